"""A snapshot put back, and a reset: the whole other world, or the one before."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pytest

from proxyapi.sandbox.clock import SandboxClock


@pytest.mark.parametrize(
    "note",
    [
        {"id": "settings", "value": {"nope": 1}},
        {"id": "settings", "value": [1]},
        {"id": "clock", "value": {}},
        {"id": "clock", "value": None},
        {"id": "seed", "value": "x"},
    ],
)
def test_a_bad_note_in_a_snapshot_changes_nothing(sandbox, note):
    before = sandbox.get("/_sandbox/snapshot").json()
    assert sandbox.put("/_sandbox/snapshot", {"note": [note]}).status_code == 422
    assert sandbox.get("/_sandbox/snapshot").json() == before
    sandbox.world.store.close()
    sandbox.start(clock=SandboxClock())
    assert sandbox.get("/_sandbox/snapshot").json() == before


def test_the_old_world_is_saved_until_the_new_one_is(sandbox, tmp_path):
    """What a kill between the two would leave."""
    snapshot = sandbox.world.snapshot()
    sandbox.draft()
    before = _saved(tmp_path)
    for change in (lambda: sandbox.world.restore(snapshot), sandbox.world.empty):
        change()
        assert _saved(tmp_path) == before
    sandbox.world.commit()
    assert _saved(tmp_path) == {"note"}
    sandbox.world.restore(snapshot)
    sandbox.world.commit()
    assert _saved(tmp_path) == {"account", "note", "token"}


@pytest.mark.parametrize("turn", [{"mode": "scaled", "scale": 60}, {"mode": "real"}])
def test_a_snapshot_brings_the_mode_of_its_clock_back(sandbox, turn):
    sandbox.put("/_sandbox/clock", turn)
    snapshot = sandbox.get("/_sandbox/snapshot").json()
    sandbox.put("/_sandbox/clock", {"mode": "frozen", "now": "2030-01-01T00:00:00Z"})
    assert sandbox.put("/_sandbox/snapshot", snapshot).status_code == 200
    assert sandbox.get("/_sandbox/snapshot").json() == snapshot
    assert sandbox.get("/_sandbox/clock").json()["mode"] == turn["mode"]


def _saved(folder):
    with closing(sqlite3.connect(folder / "world.sqlite3")) as db:
        rows = db.execute("SELECT kind, body FROM rows").fetchall()
    return {kind for kind, body in rows if json.loads(body)}


BAD_ROWS = [
    ("job", {"kind": "opera"}, "Job 1: kind: Input should be 'faceless'"),
    ("job", {"statuses": []}, "Job 1: statuses: List should have at least 1 item"),
    ("job", {"started_at": float("inf")}, "Job 1: started_at: Input should be a finite number"),
    ("outcome", {"kind": "refund"}, "Outcome 1: kind: Input should be 'faceless'"),
]


@pytest.mark.parametrize(("table", "wrong", "why"), BAD_ROWS)
def test_a_job_that_nobody_could_bring_forward_is_refused(sandbox, table, wrong, why):
    row = {"id": 1, "kind": "faceless", "resource_id": 1, "statuses": ["completed"]}
    row |= {"started_at": 0, "seconds": 1, **wrong}
    before = sandbox.get("/_sandbox/snapshot").json()
    body = json.dumps({**before, table: [row]}).replace("Infinity", "1e999")
    headers = {"Content-Type": "application/json"}
    answer = sandbox.call("PUT", "/_sandbox/snapshot", content=body, headers=headers)
    assert answer.status_code == 422
    assert answer.json()["message"].startswith(f"This is no snapshot: {why}")
    assert sandbox.get("/_sandbox/snapshot").json() == before


def test_a_snapshot_with_rows_of_no_kind_says_which(sandbox):
    answer = sandbox.put("/_sandbox/snapshot", {"opera": [{"id": 1}]})
    told = "This is no snapshot: there are no rows of kind 'opera'."
    assert (answer.status_code, answer.json()["message"]) == (422, told)
