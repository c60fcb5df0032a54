"""A snapshot put back, and a reset: the whole other world, or the one before."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pytest

from proxyapi.sandbox.clock import Clock


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
    sandbox.start(clock=Clock())
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
