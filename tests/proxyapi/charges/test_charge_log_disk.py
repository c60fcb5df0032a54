"""While the charge log cannot be written to its disk, nothing is sent."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from proxyapi import charge_log
from proxyapi.charges import dispatch_charge
from proxyapi.models import Charge, ChargeState
from tests.proxyapi.scripted_upstream import ScriptedUpstream, charged_response

RENDER = ("POST", "/faceless/7/render")


def test_a_charge_log_that_cannot_be_written_holds_the_charge(
    make_held_charge: Callable[..., Charge],
    upstream: ScriptedUpstream,
    settings: Any,
    tmp_path: Path,
) -> None:
    upstream.respond(*RENDER, charged_response({"id": 7}, 92))
    settings.CHARGE_LOG_DIR = tmp_path / "full"
    settings.CHARGE_LOG_DIR.touch()  # a file where the folder is expected
    charge = make_held_charge()
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert (charge.state, charge.sent_at) == (ChargeState.HELD, None)
    assert "disk of the charge log cannot be written" in charge.reason
    assert charge_log.is_unwritable()
    assert upstream.request_bodies(*RENDER) == []
    settings.CHARGE_LOG_DIR.unlink()
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert (charge.state, charge_log.is_unwritable()) == (ChargeState.CONFIRMED, False)
