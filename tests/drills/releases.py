"""Four releases of the portal: today's, one with a new column, one without it, one that drops it.

That is a change of the schema in the order in which no release that still serves is hurt by it
(docs/decisions/0014-releases-overlap.md). Each lies in a folder of its own and has a style sheet
of its own.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

from tests.drills.portal_commands import ROOT

PARTS = ("dashboard", "proxyapi", "templates", "static")
TABLE, COLUMN, INDEX = "proxyapi_job", "drilled", "drilled_jobs"
FIELD = 'models.CharField(max_length=20, default="", db_default="")'
MODEL = f'\n\nJob.add_to_class("{COLUMN}", {FIELD})\n'

ADD = f'[migrations.AddField("job", "{COLUMN}", {FIELD})]'
# In lots, so that nobody waits long for a row.
FILL = f"""[]
    atomic = False


def fill(apps, schema_editor):
    Job = apps.get_model("proxyapi", "Job")
    while lot := list(Job.objects.filter({COLUMN}="").values_list("pk", flat=True)[:500]):
        Job.objects.filter(pk__in=lot).update({COLUMN}="new")


Migration.operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
"""
SORT = f'[migrations.AddIndex("job", models.Index(fields=["{COLUMN}", "id"], name="{INDEX}"))]'
LEAVE = f"""[
        migrations.RemoveIndex("job", "{INDEX}"),
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.RemoveField("job", "{COLUMN}")]
        ),
    ]"""
DROP = f'[migrations.RunSQL("ALTER TABLE {TABLE} DROP COLUMN {COLUMN}")]'


class Release(NamedTuple):
    name: str
    folder: Path
    migrations: tuple[str, ...] = ()  # those it adds


def make_four_releases(folder: Path) -> list[Release]:
    return [
        Release("today's", ROOT),
        make_release(folder, "expanded", [ADD, FILL, SORT], with_column=True),
        make_release(folder, "without", [ADD, FILL, SORT, LEAVE]),
        make_release(folder, "contracted", [ADD, FILL, SORT, LEAVE, DROP]),
    ]


def make_release(
    folder: Path, name: str, added: list[str], *, with_column: bool = False
) -> Release:
    """A copy of today's with these migrations behind its own."""
    copy = folder / name
    for part in PARTS:
        shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "manage.py", copy)
    with (copy / "static/css/tokens.css").open("a") as sheet:
        sheet.write(f"/* {name} */\n")
    if with_column:
        with (copy / "proxyapi/models/job.py").open("a") as model:
            model.write(MODEL)
    home = copy / "proxyapi/migrations"
    names = []
    for operations in added:
        last = max(path.stem for path in home.glob("[0-9]*.py"))
        names.append(f"{int(last[:4]) + 1:04}_drilled")
        (home / f"{names[-1]}.py").write_text(migration_text(last, operations))
    return Release(name, copy, tuple(names))


def migration_text(last: str, operations: str) -> str:
    return (
        "from django.db import migrations, models\n\n\n"
        "class Migration(migrations.Migration):\n"
        f'    dependencies = [("proxyapi", "{last}")]\n'
        f"    operations = {operations}\n"
    )
