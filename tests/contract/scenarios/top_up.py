"""Auto top-up: the rows of its limits, of its body and its rules."""

from __future__ import annotations

from typing import Any

from tests.contract import staging
from tests.contract.scenarios import ScenarioTable
from tests.contract.scenarios.errors import change
from tests.contract.scenarios.limits import LIMITS
from tests.sandbox.conftest import SandboxClient

PATH = "/v2/account/auto-topup"
UNITS = {"enabled": True, "type": "dynamic-credits", "units": 5}
PACK = {"enabled": True, "type": "extra-credits", "plan_id": 301}
DAY = 24 * 3600

BODY = ScenarioTable()
RULES = ScenarioTable()


def choose(sandbox: SandboxClient, wish: dict[str, Any]) -> dict[str, Any]:
    shown: dict[str, Any] = staging.response_data(sandbox.put(PATH, wish))
    return shown


def refused(sandbox: SandboxClient, wish: dict[str, Any]) -> list[str]:
    """The fields that a wish is refused for."""
    answer = sandbox.put(PATH, wish)
    assert answer.status_code == 422, answer.text
    return list(answer.json()["errors"])


def spend(sandbox: SandboxClient, credits: int = 103) -> None:
    """API spend that leaves this much less 4 credits of the month's 1,000."""
    change(sandbox, credits=credits)
    sandbox.world.clock.advance(61)
    path = f"/v2/faceless/{sandbox.draft()}/scripts"
    assert sandbox.put(path, staging.SCRIPT).status_code == 200


def top_ups(sandbox: SandboxClient) -> list[int]:
    return [it["credits"] for it in sandbox.money()["top_ups"]]


@LIMITS.row("Auto top-up trigger")
def below_a_tenth_by_api_spend(sandbox: SandboxClient) -> None:
    choose(sandbox, UNITS)
    spend(sandbox, 104)
    assert top_ups(sandbox) == []
    account = sandbox.get("/_sandbox/accounts").json()[0]["account_id"]
    sandbox.post(f"/_sandbox/accounts/{account}/spend", {"credits": 50})
    assert top_ups(sandbox) == []
    spend(sandbox, 103)
    assert top_ups(sandbox) == [500]


@LIMITS.row("Auto top-up daily cap")
def three_a_utc_day(sandbox: SandboxClient) -> None:
    choose(sandbox, UNITS)
    for _ in range(5):
        spend(sandbox)
    assert top_ups(sandbox) == [500] * 3
    seconds = DAY - sandbox.world.now % DAY
    sandbox.world.clock.advance(seconds)
    spend(sandbox)
    assert top_ups(sandbox) == [500] * 4


@LIMITS.row("Auto top-up cooldown")
def a_day_after_a_failure(sandbox: SandboxClient) -> None:
    choose(sandbox, UNITS)
    sandbox.set(top_up_charge="fails")
    spend(sandbox)
    sandbox.set(top_up_charge="succeeds")
    sandbox.world.clock.advance(DAY - 100)
    spend(sandbox)
    assert top_ups(sandbox) == []
    sandbox.world.clock.advance(100)
    spend(sandbox)
    assert top_ups(sandbox) == [500]


@LIMITS.row("Auto top-up disable")
def three_failures_in_a_row(sandbox: SandboxClient) -> None:
    choose(sandbox, UNITS)
    sandbox.set(top_up_charge="fails")
    seen = []
    for _ in range(3):
        spend(sandbox)
        shown = staging.response_data(sandbox.get(PATH))
        seen.append((shown["consecutive_failures"], shown["enabled"]))
        sandbox.world.clock.advance(DAY + 1)
    assert seen == [(1, True), (2, True), (3, False)]


@LIMITS.row("Auto top-up units")
@RULES.row("Units up to 100 accept only the presets 1, 2, 3, 4, 5, 10, 20, 30, 50, 100.")
def presets_and_any_number_above(sandbox: SandboxClient) -> None:
    sandbox.set(rate_limit=1000)
    presets = (1, 2, 3, 4, 5, 10, 20, 30, 50, 100)
    for units in (*range(-1, 103), 150, 199_999, 200_000):
        answer = sandbox.put(PATH, {**UNITS, "units": units})
        allowed = units in presets or 100 < units <= 199_999
        assert answer.status_code == (200 if allowed else 422), units
    choose(sandbox, {**UNITS, "units": 2})
    spend(sandbox)
    assert top_ups(sandbox) == [200]


@BODY.row("enabled")
def enabled_is_required(sandbox: SandboxClient) -> None:
    assert refused(sandbox, {}) == refused(sandbox, {"type": "dynamic-credits"}) == ["enabled"]
    assert refused(sandbox, {"enabled": "yes"}) == ["enabled"]


@BODY.row("type")
def a_type_is_required_to_enable(sandbox: SandboxClient) -> None:
    assert refused(sandbox, {"enabled": True, "units": 5}) == ["type"]
    assert refused(sandbox, {**UNITS, "type": "gold"}) == ["type"]


@BODY.row("plan_id")
def a_pack_is_required_for_extra_credits(sandbox: SandboxClient) -> None:
    assert refused(sandbox, {"enabled": True, "type": "extra-credits"}) == ["plan_id"]
    assert refused(sandbox, {**PACK, "plan_id": 1}) == ["plan_id"]
    shown = choose(sandbox, PACK)
    assert (shown["type"], shown["plan_id"]) == ("extra-credits", 301)
    spend(sandbox)
    assert top_ups(sandbox) == [500]


@BODY.row("units")
def units_are_required_for_dynamic_credits(sandbox: SandboxClient) -> None:
    assert refused(sandbox, {"enabled": True, "type": "dynamic-credits"}) == ["units"]
    assert refused(sandbox, {**UNITS, "units": "5"}) == ["units"]
    assert choose(sandbox, UNITS)["units"] == 5


@RULES.row("When enabled is false, every other field is ignored")
def disabling_keeps_the_choice(sandbox: SandboxClient) -> None:
    choose(sandbox, UNITS)
    choose(sandbox, PACK)
    off = choose(sandbox, {"enabled": False, "type": "gold", "plan_id": "x", "units": -1})
    chosen = (off["enabled"], off["type"], off["plan_id"], off["units"])
    assert chosen == (False, "extra-credits", 301, 5)


@RULES.row("Enabling without a saved default payment method returns 422")
def no_payment_method(sandbox: SandboxClient) -> None:
    change(sandbox, payment_method=False)
    answer = sandbox.put(PATH, UNITS)
    assert answer.status_code == 422
    assert "payment method is required" in answer.json()["message"].lower()
    assert staging.response_data(sandbox.get(PATH))["enabled"] is False


@RULES.row("Toggling does not reset consecutive_failures or the daily success count.")
def toggling_resets_nothing(sandbox: SandboxClient) -> None:
    choose(sandbox, UNITS)
    for _ in range(3):
        spend(sandbox)
    toggle(sandbox)
    spend(sandbox)
    assert top_ups(sandbox) == [500] * 3
    sandbox.world.clock.advance(DAY)
    sandbox.set(top_up_charge="fails")
    spend(sandbox)
    assert toggle(sandbox)["consecutive_failures"] == 1


def toggle(sandbox: SandboxClient) -> dict[str, Any]:
    choose(sandbox, {"enabled": False})
    return choose(sandbox, UNITS)
