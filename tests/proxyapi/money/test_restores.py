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
from proxyapi.charges import admit_charge
from proxyapi.models import Charge, ChargeState
from tests.proxyapi.money.indoors import Indoors, indoors, staged
from tests.proxyapi.money.operations import OPERATIONS
from tests.proxyapi.money.restores import WAYS, Restores, beat, restored
from tests.tools import use_tools

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[Indoors]:
    with indoors(tmp_path, monkeypatch, settings) as found:
        yield found


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("put_back_at", ["sent", "done"])
def test_a_script_that_was_ordered_before_the_backup_is_not_paid_again(house, way, put_back_at):
    found = Restores()
    restored(house, "faceless.scripts", "pressed", put_back_at, way, found)
    assert found.wrong == []


@pytest.mark.parametrize("operation", ["faceless.render", "text_to_video.create"])
def test_a_charge_that_is_not_in_the_backup_is_restored_from_the_log(house, operation):
    found = Restores()
    restored(house, operation, "made", "done", "restored and started", found)
    assert (found.wrong, found.settled) == ([], 1)


def test_the_commands_restore_a_backup_and_nothing_is_sent_again(house, tmp_path, monkeypatch):
    use_tools(monkeypatch)
    file = str(tmp_path / "monday.zip")
    with staged(house, {}, credits=1000) as stage:
        intent = OPERATIONS["faceless.scripts"](stage)
        already, charge = stage.spent(), admit_charge(intent)
        call_command("backup", file)
        tasks.dispatch_charge_task(str(charge.pk))
        call_command("restore", file, "--replace")
        beat(house)
        charge = Charge.objects.get()
        assert (charge.state, charge.cost) == (ChargeState.MATCHED, 4)
        assert stage.spent() - already == 4
