"""The first start makes at the sandbox what the demo needs while the database is migrated."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event
from typing import Any

import pytest
from django.core.management import call_command
from django.db import OperationalError

from dashboard.maintenance import backups
from dashboard.management.commands import prepare, seed_demo
from dashboard.monitoring import readiness

WAIT_S = 10


class StartSteps:
    """In the place of the steps of a start: it notes them, and does nothing."""

    def __init__(self) -> None:
        self.noted: list[str] = []
        self.is_sandbox_busy, self.is_migrated = Event(), Event()
        self.seeded_with: Any = None

    def make_parts(self) -> str:
        self.is_sandbox_busy.set()
        assert self.is_migrated.wait(WAIT_S)
        self.noted.append("made")
        return "parts"

    def migrate(self) -> None:
        self.noted.append("migrated")
        self.is_migrated.set()

    def call_command(self, name: str, *_: object, **options: Any) -> None:
        if name == "seed_demo":
            self.seeded_with = options["parts"] and options["parts"].result()


@pytest.fixture
def steps(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[StartSteps]:
    settings.VIDEO_API_IS_SANDBOX, settings.DEMO = True, "full"
    made = StartSteps()
    monkeypatch.setattr(seed_demo, "make_parts", made.make_parts)
    monkeypatch.setattr(prepare.Command, "migrate", lambda _: made.migrate())
    monkeypatch.setattr(prepare, "call_command", made.call_command)
    monkeypatch.setattr(readiness, "check_redis", str)
    for name in ("collect", "recover"):
        monkeypatch.setattr(prepare.Command, name, lambda _: None)
    yield made


def test_a_new_database_is_migrated_while_the_sandbox_works(
    steps: StartSteps, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backups, "is_database_empty", lambda: True)

    def migrate(_: prepare.Command) -> None:
        assert steps.is_sandbox_busy.wait(WAIT_S)
        steps.migrate()

    monkeypatch.setattr(prepare.Command, "migrate", migrate)

    call_command("prepare")

    assert steps.noted == ["migrated", "made"]
    assert steps.seeded_with == "parts"


def refuse_connection() -> bool:
    raise OperationalError


@pytest.mark.parametrize("is_empty", [lambda: False, refuse_connection])
def test_any_other_start_asks_nothing_of_the_sandbox_before(
    steps: StartSteps, monkeypatch: pytest.MonkeyPatch, is_empty: Any
) -> None:
    monkeypatch.setattr(backups, "is_database_empty", is_empty)

    call_command("prepare")

    assert steps.noted == ["migrated"]
    assert steps.seeded_with is None


@pytest.mark.django_db
@pytest.mark.parametrize(("is_sandbox", "demo"), [(False, "full"), (True, "none")])
def test_a_start_without_the_demo_asks_nothing_of_the_sandbox(
    steps: StartSteps, settings: Any, monkeypatch: pytest.MonkeyPatch, is_sandbox: bool, demo: str
) -> None:
    settings.VIDEO_API_IS_SANDBOX, settings.DEMO = is_sandbox, demo
    monkeypatch.setattr(backups, "is_database_empty", lambda: True)

    call_command("prepare")

    assert steps.noted == ["migrated"]
