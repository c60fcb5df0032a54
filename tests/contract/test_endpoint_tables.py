"""Each row of the endpoint tables is a route of the sandbox that behaves as the spec says."""

from __future__ import annotations

import pytest
from fastapi.routing import APIRoute

from proxyapi.operations import OPERATIONS
from proxyapi.sandbox import api
from tests.contract import spec
from tests.contract.recipes import RECIPES, PreparedRequest
from tests.contract.spec import NOT_SHOWN, Endpoint

EXEMPT = ("/me", "/credits/costs", "/credits/history")
LISTS = ("/credits/history", "/ideas")
ROWS = sorted(spec.endpoints())
OTHER_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
CANDIDATES = ("POST", "PUT", "PATCH")  # for the three rows whose method is not shown


def routes() -> set[Endpoint]:
    """What the sandbox answers; three paths answer to more methods, for theirs are not shown."""
    not_shown = {row.path for row in ROWS if row.method == NOT_SHOWN}
    found = [route for router in api.ROUTERS for route in router.routes]
    assert all(isinstance(route, APIRoute) for route in found)
    return {
        Endpoint(NOT_SHOWN if route.path in not_shown else method, route.path)
        for route in found
        if isinstance(route, APIRoute)
        for method in route.methods or ()
    }


def test_the_spec_the_sandbox_and_the_operations_have_the_same_endpoints():
    operations = {
        Endpoint(row.method if row.method_documented else NOT_SHOWN, row.path)
        for row in OPERATIONS.values()
    }
    assert routes() == set(ROWS) == operations


def test_what_is_described_is_what_is_routed(sandbox):
    not_shown = {row.path for row in ROWS if row.method == NOT_SHOWN}
    described = {
        Endpoint(NOT_SHOWN if path[3:] in not_shown else method.upper(), path[3:])
        for path, methods in sandbox.get("/openapi.json").json()["paths"].items()
        for method in methods
        if path.startswith("/v2/")
    }
    assert described == set(ROWS)


def test_every_row_has_a_recipe_and_every_recipe_a_row():
    assert set(RECIPES) == set(ROWS)


@pytest.fixture
def prepared_request(sandbox, row) -> PreparedRequest:
    """A request that succeeds, in a minute of which nothing is used."""
    asked = RECIPES[row].prepare(sandbox, row)
    sandbox.world.clock.advance(61)
    return asked


def send(sandbox, asked):
    return sandbox.call(asked.method, asked.path, **asked.sent)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_it_answers_as_the_table_says(sandbox, row, prepared_request):
    before = sandbox.money()
    answer = send(sandbox, prepared_request)
    body, recipe = answer.json(), RECIPES[row]
    assert (answer.status_code, body.get("status")) == (recipe.status, recipe.status), answer.text
    assert isinstance(body["message"], str)
    assert body["data"] is not None
    assert ("links" in body) == (row.path in LISTS and row.method == "GET")
    after = sandbox.money()
    spent = before["balance"] - after["balance"]
    if recipe.charges is None:
        assert spent == 0 and "credits" not in (body.get("meta") or {})
    else:
        assert body["meta"]["credits"] == {"cost": recipe.charges, "remaining": after["balance"]}
        assert spent == recipe.charges
    assert after["balanced"] and after["double_charges"] == []
    assert answer.headers["x-ratelimit-limit"] == "30"
    assert answer.headers["x-ratelimit-remaining"] == "29"


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_it_is_for_paying_owners_with_a_token(sandbox, row, prepared_request):
    """The check of the subscription comes before those of ownership, credit and body."""
    assert refused(sandbox, prepared_request, Authorization="Bearer nonsense") == (
        401,
        "GEN-UNAUTHORIZED",
    )
    (account,) = sandbox.get("/_sandbox/accounts").json()
    path = f"/_sandbox/accounts/{account['account_id']}"
    if row.path not in EXEMPT:
        for subscription, code in (
            ("trial", "PAID-SUBSCRIPTION-REQUIRED"),
            ("none", "SUBSCRIPTION-REQUIRED"),
            ("expired", "SUBSCRIPTION-REQUIRED"),
        ):
            sandbox.patch(path, {"subscription": subscription, "credits": 0})
            broken = PreparedRequest(
                prepared_request.method, prepared_request.path, {"content": b"{"}
            )
            assert refused(sandbox, prepared_request) == refused(sandbox, broken) == (403, code)
    else:
        sandbox.patch(path, {"subscription": "none"})
        assert send(sandbox, prepared_request).status_code == 200
    other = sandbox.post("/_sandbox/accounts", {"subscription": "trial"}).json()
    bearer = {"Authorization": f"Bearer {other['token']}"}
    if "{" in row.path:
        assert refused(sandbox, prepared_request, **bearer) == (403, "PAID-SUBSCRIPTION-REQUIRED")
        sandbox.patch(f"/_sandbox/accounts/{other['account_id']}", {"subscription": "paid"})
        assert refused(sandbox, prepared_request, **bearer) == (404, "GEN-NOT-FOUND")


def refused(sandbox, asked, **headers):
    answer = sandbox.call(asked.method, asked.path, headers=headers, **asked.sent)
    return answer.status_code, answer.json()["error"]["code"]


@pytest.mark.parametrize("path", sorted({row.path for row in ROWS}))
def test_a_path_answers_to_the_methods_of_the_tables_only(sandbox, path):
    sandbox.set(scene_edit_method="any")
    shown = {row.method for row in ROWS if row.path == path}
    concrete = "/v2" + path.replace("{", "").replace("}", "")
    for method in OTHER_METHODS:
        answer = sandbox.call(method, concrete)
        allowed = method in shown or (NOT_SHOWN in shown and method in CANDIDATES)
        twin = [row for row in ROWS if row.method == method and fits(row.path, path)]
        assert (answer.status_code == 405) == (not allowed and not twin), method


@pytest.mark.parametrize("row", [row for row in ROWS if row.method == NOT_SHOWN], ids=str)
@pytest.mark.parametrize("chosen", [*CANDIDATES, "any"])
def test_a_method_that_is_not_shown_is_the_one_that_is_set(sandbox, row, chosen):
    sandbox.set(scene_edit_method=chosen)
    for method in CANDIDATES:
        asked = RECIPES[row].prepare(sandbox, row)
        answer = send(sandbox, asked._replace(method=method))
        assert answer.status_code == (200 if chosen in (method, "any") else 405)
        sandbox.world.clock.advance(61)


@pytest.mark.parametrize("row", [row for row in ROWS if row.method == NOT_SHOWN], ids=str)
def test_the_client_sends_what_is_not_shown_as_the_sandbox_takes_it(sandbox, row, prepared_request):
    (ours,) = (it for it in OPERATIONS.values() if it.path == row.path)
    assert send(sandbox, prepared_request._replace(method=ours.method)).status_code == 200


def fits(pattern: str, path: str) -> bool:
    """Whether a path is another's with something in place of its last name."""
    ours, theirs = path.split("/"), pattern.split("/")
    return len(ours) == len(theirs) and all(
        mine == its or its.startswith("{") for mine, its in zip(ours, theirs, strict=True)
    )
