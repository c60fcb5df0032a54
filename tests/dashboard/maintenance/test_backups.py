"""`manage.py backup` and `restore`: the database as it was, or a clear refusal."""

from __future__ import annotations

import fcntl
import json
import zipfile
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from dashboard.maintenance.audit_chain import load_heads, read_heads
from dashboard.models import AuditAction, Team
from dashboard.shared.audit_log import record_audit_event, system_actor
from proxyapi.models import Charge, Token
from tests.factories import ChargeFactory, TeamFactory
from tests.postgres_tools import use_postgres_tools
from tests.settings import ON_POSTGRES

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _tools(monkeypatch: pytest.MonkeyPatch) -> None:
    use_postgres_tools(monkeypatch)


def run(name: str, *arguments: object) -> str:
    out = StringIO()
    call_command(name, *map(str, arguments), stdout=out)
    return out.getvalue()


def test_a_backup_brings_back_what_was_there_and_nothing_else(tmp_path):
    team, charge = TeamFactory.create(name="Northlight"), ChargeFactory.create()
    record_audit_event(system_actor(team, "test"), AuditAction.TEAM_CREATE, team.pk)
    told = run("backup", tmp_path / "monday.zip")
    assert "Keep ENCRYPTION_KEYS in another place" in told
    team.delete()
    TeamFactory.create(name="Founded later")

    told = run("restore", tmp_path / "monday.zip", "--replace")

    assert "Restored the database as of" in told
    assert list(Team.objects.values_list("name", flat=True)) == ["Northlight"]
    assert Charge.objects.get().pk == charge.pk
    assert read_heads(tmp_path / "monday.zip") == load_heads() != []


def test_a_backup_holds_no_key_and_is_for_its_owner_alone(tmp_path, settings):
    ChargeFactory.create()
    run("backup", tmp_path / "monday.zip")
    with zipfile.ZipFile(tmp_path / "monday.zip") as archive:
        manifest = json.loads(archive.read("manifest.json"))
        text = b"".join(archive.read(name) for name in archive.namelist())
    assert manifest["keys"] == ["k1"]
    assert settings.ENCRYPTION_KEYS.partition(":")[2].encode() not in text
    assert (tmp_path / "monday.zip").stat().st_mode & 0o077 == 0


def test_a_backup_is_not_written_over_another_one(tmp_path):
    (tmp_path / "monday.zip").write_text("precious")
    with pytest.raises(CommandError, match="exists"):
        run("backup", tmp_path / "monday.zip")
    assert (tmp_path / "monday.zip").read_text() == "precious"


@pytest.mark.parametrize("damage", ["no file", "no zip", "cut off", "of another database"])
def test_what_is_no_backup_changes_nothing(tmp_path, damage):
    TeamFactory.create(name="Northlight")
    file = tmp_path / "monday.zip"
    run("backup", file)
    if damage == "no file":
        file.unlink()
    elif damage == "no zip":
        file.write_text("not a backup")
    elif damage == "cut off":
        file.write_bytes(file.read_bytes()[:-200])
    else:
        other = {"format": 1, "vendor": "oracle", "taken_at": "2026-01-01", "keys": []}
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("manifest.json", json.dumps(other))
    with pytest.raises(CommandError, match="Nothing was restored"):
        run("restore", file, "--replace")
    assert Team.objects.get().name == "Northlight"


def test_a_database_with_teams_is_replaced_only_on_request(tmp_path):
    TeamFactory.create(name="Northlight")
    run("backup", tmp_path / "monday.zip")
    with pytest.raises(CommandError, match="Add --replace"):
        run("restore", tmp_path / "monday.zip")


def test_a_backup_whose_keys_are_missing_is_refused_before_anything_changes(tmp_path, settings):
    ChargeFactory.create()
    run("backup", tmp_path / "monday.zip")
    key = settings.ENCRYPTION_KEYS.partition(":")[2]
    settings.ENCRYPTION_KEYS = f"k9:{key}"
    with pytest.raises(CommandError, match="need k1, missing in ENCRYPTION_KEYS"):
        run("restore", tmp_path / "monday.zip", "--replace")
    assert Token.objects.exists()


def test_nothing_is_restored_under_a_running_reelroom(tmp_path, settings):
    run("backup", tmp_path / "monday.zip")
    settings.VAR = tmp_path
    with (tmp_path / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(CommandError, match="Reelroom is running in"):
            run("restore", tmp_path / "monday.zip", "--replace")


def test_missing_tools_are_named(tmp_path, monkeypatch):
    if not ON_POSTGRES:
        pytest.skip("SQLite's tool is in Python")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CommandError, match="pg_dump is not installed"):
        run("backup", tmp_path / "monday.zip")


def test_sqlite_keeps_the_file_of_before(tmp_path):
    if ON_POSTGRES:
        pytest.skip("PostgreSQL's is gone with the transaction that restored the other")
    TeamFactory.create(name="Northlight")
    run("backup", tmp_path / "monday.zip")
    told = run("restore", tmp_path / "monday.zip", "--replace")
    kept = Path(told.partition("kept as ")[2].split()[0].rstrip("."))
    assert kept.exists()
    kept.unlink()


def test_a_full_disk_leaves_the_database_where_it_is(tmp_path, monkeypatch):
    if ON_POSTGRES:
        pytest.skip("PostgreSQL restores in a transaction")
    TeamFactory.create(name="Northlight")
    run("backup", tmp_path / "monday.zip")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("dashboard.maintenance.backups.shutil.copyfile", fail)
    with pytest.raises(CommandError, match="Nothing was restored"):
        run("restore", tmp_path / "monday.zip", "--replace")
    assert Team.objects.get().name == "Northlight"
