"""Each row of the spec's tables of errors, preconditions, limits, charges and states behaves.

The rows are read out of the specification; one without a scenario fails.
"""

from __future__ import annotations

import pytest

from tests.contract import spec
from tests.contract.scenarios.charges import CHARGES
from tests.contract.scenarios.errors import ERRORS
from tests.contract.scenarios.limits import LIMITS
from tests.contract.scenarios.other_cases import OTHER_CASES
from tests.contract.scenarios.preconditions import PRECONDITIONS
from tests.contract.scenarios.states import STATES
from tests.contract.scenarios.top_up import BODY, RULES

TYPES = {"ai-visuals": "ai-visuals", "b-roll": "b-roll", "url-based": "url-to-video"}
STATE_ROWS = [f"{row[0]}: {row[1]} → {row[4]}" for row in spec.states()]


@pytest.mark.parametrize(
    ("scenarios", "rows"),
    [
        (ERRORS, spec.error_codes()),
        (PRECONDITIONS, spec.preconditions()),
        (LIMITS, spec.limits()),
        (CHARGES, spec.charges()),
        (STATES, STATE_ROWS),
        (OTHER_CASES, spec.other_cases()),
        (BODY, spec.top_up_body()),
    ],
    ids=["errors", "preconditions", "limits", "charges", "states", "cases", "top-up"],
)
def test_every_row_has_a_scenario_and_every_scenario_a_row(scenarios, rows):
    assert len(rows) >= 4
    assert scenarios.covers(rows)


def test_every_rule_of_the_top_up_has_a_scenario():
    rules = spec.top_up_rules()
    assert len(rules) == len(RULES) == 4
    assert all(any(rule.startswith(known) for known in RULES) for rule in rules)


def test_the_authorization_codes_are_codes_of_the_table():
    assert set(spec.gate_codes()) == {"PAID-SUBSCRIPTION-REQUIRED", "SUBSCRIPTION-REQUIRED"}
    assert set(spec.gate_codes()) <= set(spec.error_codes())


@pytest.mark.parametrize(("code", "status"), spec.error_codes().items())
def test_an_error_bears_its_status_and_its_code(sandbox, code, status):
    sandbox.set(rate_limit=1000)
    answers = ERRORS[code](sandbox)
    assert answers
    for answer in answers:
        error = answer.json()["error"]
        assert (f"{answer.status_code}", error["code"]) in {
            (status, code),
            *((f"{number}", code) for number in range(500, 600) if status == "5xx"),
        }
        assert error["message"] and answer.json()["message"]
        assert "x-ratelimit-limit" in answer.headers


def concerning(row: str) -> list[str]:
    """The types that a precondition names, all where it names none."""
    kinds = ["ai-visuals", "ai-clips", "b-roll", "url-based"]
    return [kind for kind in kinds if kind in row] or kinds


@pytest.mark.parametrize(
    ("row", "meaning", "kind"),
    [(row, said, kind) for row, said in spec.preconditions().items() for kind in concerning(row)],
)
def test_a_render_is_refused_before_any_charge(sandbox, row, meaning, kind):
    number = PRECONDITIONS[row](sandbox, kind)
    sandbox.world.clock.advance(1)
    before = sandbox.money()
    status, _, said = meaning.partition(" ")
    surfaces = ["faceless", *filter(None, [TYPES.get(kind)])]
    for path in [f"/v2/{it}/{number}/render" for it in surfaces] + [f"/v2/faceless/{number}/retry"]:
        answer = sandbox.post(path)
        assert answer.status_code == int(status.rstrip(",")), answer.text
        assert says(answer.json(), said)
    after = sandbox.money()
    assert (after["balance"], after["charges"]) == (before["balance"], before["charges"])


def says(body, meaning):
    """Whether a refusal says what the table means by it."""
    if meaning.startswith("on field "):
        return meaning.removeprefix("on field ") in body["errors"]
    if "required and available" in meaning:
        error = body["error"]
        return error["code"] in meaning and error["required"] > error["available"] >= 0
    return plain(meaning) in plain(body["message"])


def plain(sentence):
    return "".join(it for it in sentence.lower() if it.isalnum() or it == " ")


@pytest.mark.parametrize("row", spec.limits())
def test_a_limit_holds(sandbox, row):
    LIMITS[row](sandbox)


@pytest.mark.parametrize("row", spec.charges())
def test_an_operation_costs_what_the_table_says(sandbox, row):
    sandbox.set(rate_limit=1000)
    CHARGES[row](sandbox)
    money = sandbox.money()
    assert money["balanced"]


@pytest.mark.parametrize("row", STATE_ROWS)
def test_a_transition_happens_as_the_table_says(sandbox, row):
    sandbox.set(rate_limit=1000)
    STATES[row](sandbox)


@pytest.mark.parametrize("row", spec.other_cases())
def test_another_case_is_answered_as_listed(sandbox, row):
    OTHER_CASES[row](sandbox)


@pytest.mark.parametrize("field", spec.top_up_body())
def test_a_field_of_the_top_up_follows_its_rule(sandbox, field):
    BODY[field](sandbox)


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_of_the_top_up_holds(sandbox, rule):
    RULES[rule](sandbox)
