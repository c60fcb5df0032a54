"""Saving: what cannot be saved is refused, and never in the way of what can."""

from __future__ import annotations

from typing import Any

import pytest

from proxyapi.sandbox.clock import SandboxClock

HALF = "\\ud800"  # of a surrogate pair, as JSON has it
JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "settings", f'{{"debit_type": "{HALF}"}}'),
        ("POST", "faults", f'{{"action": "status", "body": {{"a": ["{HALF}"]}}}}'),
        ("POST", "faults", f'{{"action": "status", "headers": {{"{HALF}": "a"}}}}'),
        ("POST", "outcomes", f'{{"statuses": ["a"], "failure": {{"message": "{HALF}"}}}}'),
        ("PUT", "snapshot", f'{{"note": [{{"id": "{HALF}", "value": 1}}]}}'),
    ],
)
def test_text_that_cannot_be_saved_is_refused(sandbox, method, path, body):
    before = sandbox.get("/_sandbox/snapshot").json()
    answer = sandbox.call(method, f"/_sandbox/{path}", content=body, headers=JSON)
    assert answer.status_code == 422
    assert sandbox.get("/_sandbox/snapshot").json() == before
    assert sandbox.get("/v2/me").status_code == 200


def test_a_row_that_cannot_be_saved_does_not_keep_the_others_from_it(sandbox):
    world = sandbox.world
    before: Any = world.settings
    world.store_settings(before.model_copy(update={"debit_type": "\ud800"}))
    first = world.number("visit")
    with pytest.raises(ValueError, match="surrogates not allowed"):
        world.commit()
    assert world.number("visit") == first + 1
    world.commit()
    world.store.close()
    sandbox.start(clock=SandboxClock())
    assert sandbox.world.number("visit") == first + 2
    assert sandbox.get("/v2/me").status_code == 200
