"""A client of twenty lines pays twice at the service, and once with its base URL at the gateway."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from django.core.management import call_command

from proxyapi.management.client_runs import ControlPlane, Target, run_scenario
from tests.client_checks.conftest import NAIVE

SCENARIOS = ("answer_lost", "client_restarts")


def test_the_naive_client_is_caught(sandbox: str, capsys: pytest.CaptureFixture[str]) -> None:
    only = [f"--only={name}" for name in SCENARIOS]
    with pytest.raises(SystemExit) as end:
        call_command("check_client", "--client", NAIVE, "--sandbox", sandbox, "--json", *only)
    result = json.loads(capsys.readouterr().out)
    assert end.value.code == 1
    assert result["summary"] == "Your client paid twice in 2 of 2 scenarios."
    twice = [it["scenario"] for it in result["verdicts"] if it["paid_more_than_once"]]
    assert tuple(twice) == SCENARIOS


@pytest.mark.django_db(transaction=True)
def test_the_same_client_at_the_gateway_is_clean(
    sandbox: str, portal: Callable[[], Target]
) -> None:
    verdict = run_scenario(ControlPlane(sandbox, 1), "client_restarts", NAIVE, portal(), 60)
    assert verdict["problems"] == [], verdict
    assert (verdict["exit_status"], verdict["film_made"]) == (0, True), verdict["last_line"]
