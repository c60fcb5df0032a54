"""Auto top-up: what may be asked for, and when the account is charged."""

from __future__ import annotations

import pytest

PATH = "/v2/account/auto-topup"
UNITS = {"enabled": True, "type": "dynamic-credits", "units": 5}
DAY = 24 * 3600


@pytest.fixture
def spend_below_threshold(sandbox):
    """Bring the balance to just below a tenth of the month's credits, by API spend."""

    def bring_down(credits=103):
        (account,) = sandbox.get("/_sandbox/accounts").json()
        sandbox.patch(f"/_sandbox/accounts/{account['account_id']}", {"credits": credits})
        path = f"/v2/faceless/{sandbox.draft()}/scripts"
        assert sandbox.put(path, {"topic": "x", "duration": 30}).status_code == 200
        return sandbox.money()["balance"]

    return bring_down


@pytest.mark.parametrize(
    ("wish", "field"),
    [
        ({}, "enabled"),
        ({"enabled": True}, "type"),
        ({"enabled": True, "type": "gold"}, "type"),
        ({"enabled": True, "type": "extra-credits"}, "plan_id"),
        ({"enabled": True, "type": "extra-credits", "plan_id": 1}, "plan_id"),
        ({"enabled": True, "type": "dynamic-credits"}, "units"),
        ({"enabled": True, "type": "dynamic-credits", "units": 6}, "units"),
        ({"enabled": True, "type": "dynamic-credits", "units": "5"}, "units"),
        ({"enabled": True, "type": "dynamic-credits", "units": 200_000}, "units"),
    ],
)
def test_a_wrong_preference_is_422_by_field(sandbox, wish, field):
    answer = sandbox.put(PATH, wish)
    assert (answer.status_code, list(answer.json()["errors"])) == (422, [field])


@pytest.mark.parametrize("units", [1, 5, 100, 101, 199_999])
def test_presets_and_any_number_above_a_hundred_are_accepted(sandbox, units):
    data = sandbox.put(PATH, UNITS | {"units": units}).json()["data"]
    assert (data["enabled"], data["units"]) == (True, units)


def test_disabling_ignores_the_rest_and_keeps_what_was_chosen(sandbox):
    sandbox.put(PATH, UNITS)
    off = {"enabled": False, "type": "extra-credits", "units": "many"}
    data = sandbox.put(PATH, off).json()["data"]
    assert (data["enabled"], data["type"], data["units"]) == (False, "dynamic-credits", 5)


def test_enabling_needs_a_saved_payment_method(sandbox):
    (account,) = sandbox.get("/_sandbox/accounts").json()
    path = f"/_sandbox/accounts/{account['account_id']}"
    sandbox.patch(path, {"payment_method": False})
    answer = sandbox.put(PATH, UNITS)
    assert (answer.status_code, "payment method" in answer.json()["message"]) == (422, True)


def test_api_spend_below_a_tenth_tops_up_and_spend_elsewhere_does_not(
    sandbox, spend_below_threshold
):
    sandbox.put(PATH, UNITS)
    (account,) = sandbox.get("/_sandbox/accounts").json()
    sandbox.post(f"/_sandbox/accounts/{account['account_id']}/spend", {"credits": 950})
    assert sandbox.money()["top_ups"] == []
    assert spend_below_threshold() == 99 + 500
    money = sandbox.money()
    assert money["balanced"]
    assert [it["credits"] for it in money["top_ups"]] == [500]
    assert sandbox.get("/v2/me").json()["data"]["credits"]["extra"] == 500


def test_three_top_ups_a_utc_day_are_the_most(sandbox, spend_below_threshold):
    sandbox.put(PATH, UNITS)
    assert [spend_below_threshold() for _ in range(4)] == [599, 599, 599, 99]
    sandbox.put(PATH, {"enabled": False})
    sandbox.put(PATH, UNITS)
    assert spend_below_threshold() == 99
    sandbox.advance(15 * 3600)
    assert spend_below_threshold() == 599


def test_a_failed_charge_rests_for_a_day_and_the_third_in_a_row_disables(
    sandbox, spend_below_threshold
):
    sandbox.set(top_up_charge="fails")
    sandbox.put(PATH, UNITS)
    seen = []
    for wait in (0, DAY - 1, 1, DAY):
        sandbox.advance(wait)
        spend_below_threshold()
        data = sandbox.get(PATH).json()["data"]
        seen.append((data["consecutive_failures"], data["enabled"]))
    assert seen == [(1, True), (1, True), (2, True), (3, False)]
    data = sandbox.put(PATH, UNITS).json()["data"]
    assert (data["enabled"], data["consecutive_failures"]) == (True, 3)
    assert sandbox.money()["top_ups"] == []


def test_a_pack_that_is_not_active_any_more_is_a_failure(sandbox, spend_below_threshold):
    sandbox.put(PATH, {"enabled": True, "type": "extra-credits", "plan_id": 302})
    sandbox.set(credit_packs={301: 500})
    assert spend_below_threshold() == 99
    assert sandbox.money()["top_ups"] == []
    assert sandbox.get(PATH).json()["data"]["consecutive_failures"] == 1


def test_the_scenario_of_two_failures_is_one_away_from_disabled(sandbox):
    sandbox.reset("top_up_two_failures")
    path = f"/v2/faceless/{sandbox.draft()}/scripts"
    for _ in range(2):
        sandbox.put(path, {"topic": "x", "duration": 30})
    data = sandbox.get(PATH).json()["data"]
    assert (data["enabled"], data["consecutive_failures"]) == (False, 3)


def test_enabling_below_the_threshold_charges_at_once_only_where_it_is_set(
    sandbox, spend_below_threshold
):
    assert spend_below_threshold() == 99
    sandbox.put(PATH, UNITS)
    assert sandbox.money()["balance"] == 99
    sandbox.set(top_up_on_enabling=True)
    sandbox.put(PATH, {"enabled": True, "type": "extra-credits", "plan_id": 302})
    assert sandbox.money()["balance"] == 1099


def test_a_charge_that_fails_once_succeeds_a_day_later(sandbox, spend_below_threshold):
    sandbox.put(PATH, UNITS)
    sandbox.set(top_up_charge="fails_once")
    assert spend_below_threshold() == 99
    assert sandbox.get(PATH).json()["data"]["consecutive_failures"] == 1
    sandbox.advance(DAY)
    assert spend_below_threshold() == 599
    assert sandbox.get(PATH).json()["data"]["consecutive_failures"] == 0
