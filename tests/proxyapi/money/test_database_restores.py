"""A database that went back in time pays nothing twice and loses nothing (`restores`).

All operations at all points are in the drill; here it is what was seen to fail, and a draw.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from proxyapi import tasks
from proxyapi.models import Charge, ChargeState
from tests.admission import admit_charge
from tests.postgres_tools import use_postgres_tools
from tests.proxyapi.money.database_restores import (
    RESTORE_KINDS,
    RestoreTally,
    order_with_restore,
    run_beat,
)
from tests.proxyapi.money.in_process_sandbox import (
    InProcessSandbox,
    in_process_sandbox,
    sandbox_with_account,
)
from tests.proxyapi.money.operations import INTENT_MAKERS

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def in_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> Iterator[InProcessSandbox]:
    with in_process_sandbox(tmp_path, monkeypatch, settings) as found:
        yield found


@pytest.mark.parametrize("way", RESTORE_KINDS)
@pytest.mark.parametrize("put_back_at", ["sent", "done"])
def test_a_script_that_was_ordered_before_the_backup_is_not_paid_again(
    in_process, way, put_back_at
):
    found = RestoreTally()
    order_with_restore(in_process, "faceless.scripts", "pressed", put_back_at, way, found)
    assert found.wrong == []


@pytest.mark.parametrize("operation", ["faceless.render", "text_to_video.create"])
def test_a_charge_that_is_not_in_the_backup_is_restored_from_the_log(in_process, operation):
    found = RestoreTally()
    order_with_restore(in_process, operation, "made", "done", "restored and started", found)
    assert (found.wrong, found.settled) == ([], 1)


@pytest.mark.parametrize("put_back_at", ["answered", "done"])
def test_a_film_that_was_created_after_the_backup_is_identified_or_shown_to_people(
    in_process, put_back_at
):
    found = RestoreTally()
    way = "restored without the charge log"
    order_with_restore(in_process, "text_to_scene.render", "pressed", put_back_at, way, found)
    assert found.wrong == []


def test_the_commands_restore_a_backup_and_nothing_is_sent_again(in_process, tmp_path, monkeypatch):
    use_postgres_tools(monkeypatch)
    file = str(tmp_path / "monday.zip")
    with sandbox_with_account(in_process, {}, credits=1000) as stage:
        intent = INTENT_MAKERS["faceless.scripts"](stage)
        already, charge = stage.spent_credits(), admit_charge(intent)
        call_command("backup", file)
        tasks.dispatch_charge_task(str(charge.pk))
        call_command("restore", file, "--replace")
        run_beat(in_process)
        charge = Charge.objects.get()
        assert (charge.state, charge.cost) == (ChargeState.MATCHED, 4)
        assert stage.spent_credits() - already == 4
