"""The clock's ends: where instants could not be told as dates any more."""

from __future__ import annotations

import pytest

from proxyapi.sandbox.clock import SandboxClock
from tests.sandbox.conftest import READY_SETTINGS


class SteppingClock:
    """Its clock goes on by a step with each look at it."""

    at, step = 1e9, 0.0

    def __call__(self) -> float:
        self.at += self.step
        return self.at - self.step


@pytest.mark.parametrize("now", ["9999-12-31T23:59:00Z", "9000-01-01T00:00:01Z", "0001-01-01"])
def test_the_clock_is_not_set_to_where_dates_end(sandbox, now):
    before = sandbox.get("/_sandbox/clock").json()
    answer = sandbox.put("/_sandbox/clock", {"mode": "frozen", "now": now})
    assert (answer.status_code, sandbox.get("/_sandbox/clock").json()) == (422, before)


def test_the_clock_is_not_put_forward_to_where_dates_end(sandbox):
    sandbox.put("/_sandbox/clock", {"mode": "frozen", "now": "8999-12-31T23:59:00Z"})
    before = sandbox.get("/_sandbox/clock").json()
    answer = sandbox.post("/_sandbox/clock/advance", {"seconds": 1e8})
    assert (answer.status_code, sandbox.get("/_sandbox/clock").json()) == (422, before)
    sandbox.advance(30)
    assert sandbox.draft()
    assert sandbox.get("/v2/me").status_code == 200


@pytest.mark.parametrize("turn", [{"mode": "scaled", "scale": 100_000}, {"mode": "real"}])
def test_a_clock_that_gets_to_where_dates_end_stands_still_there(sandbox, turn):
    machine = [1_000_000_000.0]
    sandbox.world.store.close()
    sandbox.start(clock=SandboxClock(machine=lambda: machine[0]))
    sandbox.put("/_sandbox/clock", {**turn, "now": "8999-12-31T23:59:00Z"})
    for _ in range(2):
        machine[0] += 1e9
        clock = sandbox.get("/_sandbox/clock").json()
        assert (clock["mode"], clock["now"]) == (turn["mode"], "9000-01-01T00:00:00+00:00")
        assert sandbox.draft()
    assert sandbox.put("/_sandbox/clock", {"mode": "frozen"}).status_code == 200
    sandbox.world.store.close()
    sandbox.start(clock=SandboxClock("scaled", scale=5))
    assert sandbox.get("/v2/me").status_code == 200


def test_a_machine_whose_clock_was_put_back_takes_no_world_to_before_1970(sandbox):
    machine = [1_000_000_000.0]
    sandbox.world.store.close()
    sandbox.start(clock=SandboxClock(machine=lambda: machine[0]))
    sandbox.put("/_sandbox/clock", {"mode": "scaled", "scale": 100_000})
    machine[0] -= 1e9
    assert sandbox.get("/_sandbox/clock").json()["now"] == "1970-01-01T00:00:00+00:00"
    assert sandbox.get("/v2/me").status_code == 200


def test_every_request_while_it_is_held_gets_the_same_instant():
    machine = SteppingClock()
    machine.step = 1
    clock = SandboxClock(machine=machine)
    with pytest.raises(KeyError), clock.freeze_reads():
        assert clock.now() == clock.now()
        raise KeyError
    assert clock.now() < clock.now()


def test_a_job_whose_time_ends_between_two_clock_reads_ends_with_its_last_status(sandbox):
    machine = SteppingClock()
    sandbox.world.store.close()
    sandbox.start(clock=SandboxClock("real", machine=machine))
    number = sandbox.draft(**READY_SETTINGS)
    sandbox.post(f"/v2/faceless/{number}/render")
    (job,) = sandbox.world.jobs
    syncing = 0.15 * job.seconds
    machine.at += job.seconds - syncing + 0.01
    machine.step = 0.6 * syncing
    sandbox.app.state.studio.tick()
    machine.at += 60
    assert sandbox.video(number)["status"] == "completed"
