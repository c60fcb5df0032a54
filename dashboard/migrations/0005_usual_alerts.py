"""Teams that are there already begin with the usual rules as well."""

from __future__ import annotations

from typing import Any

from django.db import migrations

USUAL = (
    ("balance", 1000),
    ("balance", 200),
    ("forecast", 7),
    ("budget", 0),
    ("ask", 0),
    ("top_up_failed", 1),
    ("top_up_off", 0),
    ("unknown", 15),
    ("books", 0),
)


def give(apps: Any, schema: Any) -> None:
    Team, AlertRule = (apps.get_model("dashboard", name) for name in ("Team", "AlertRule"))
    AlertRule.objects.bulk_create(
        AlertRule(team=team, watch=watch, threshold=threshold)
        for team in Team.objects.all()
        for watch, threshold in USUAL
    )


class Migration(migrations.Migration):
    dependencies = [("dashboard", "0004_alerts")]

    operations = [migrations.RunPython(give, migrations.RunPython.noop)]
