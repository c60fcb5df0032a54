"""The clock's words and the command's options."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command

from proxyapi.sandbox import server
from proxyapi.sandbox.clock import ClockState, SandboxClock, parse_clock_mode


def test_the_clock_is_read_from_the_command_line():
    assert parse_clock_mode("real") == ("real", 1.0)
    assert parse_clock_mode("frozen") == ("frozen", 1.0)
    assert parse_clock_mode("x10") == ("scaled", 10.0)


@pytest.mark.parametrize("text", ["", "fast", "x", "x0", "x-3", "10", "xnan", "xinf"])
def test_a_clock_that_does_not_exist_is_refused_in_one_sentence(text):
    with pytest.raises(ValueError, match="clock must be real, frozen or xN"):
        parse_clock_mode(text)


def test_a_scaled_clock_runs_as_many_times_faster():
    machine = [1000.0]
    clock = SandboxClock("scaled", scale=60, machine=lambda: machine[0])
    machine[0] += 2
    assert clock.now() == 1120
    clock.advance(5)
    clock.set_mode("real")
    machine[0] += 1
    assert clock.now() == 1126


@pytest.mark.parametrize(("mode", "later"), [("real", 600), ("scaled", 36_000), ("frozen", 0)])
def test_a_saved_world_never_goes_back_in_time(mode, later):
    machine = [1000.0]
    saved = SandboxClock(mode, scale=60, now=9000, machine=lambda: machine[0]).state
    machine[0] += 600
    for told in ("real", "frozen"):
        clock = SandboxClock(told, now=0, machine=lambda: machine[0])
        clock.restore(saved)
        assert (clock.now(), clock.state.mode) == (9000 + later, told)
    same = SandboxClock(mode, scale=60, machine=lambda: machine[0])
    same.restore(saved)
    assert same.now() == 9000 + later


def test_a_clock_without_a_command_continues_as_it_was_saved():
    for saved in (
        ClockState(mode="frozen", world=9000, machine=1000),
        ClockState(mode="scaled", scale=60, world=9000, machine=1000),
    ):
        clock = SandboxClock(machine=lambda: 1010.0)
        assert clock.state.mode == "real"
        clock.restore(saved)
        assert clock.state == saved


def test_the_command_takes_the_options_of_the_program(monkeypatch):
    served = {}
    monkeypatch.setattr(server, "serve", lambda **options: served.update(options))
    call_command("sandbox", "--port", "8999", "--db", ":memory:", "--clock", "x5")
    assert served["port"] == 8999
    assert served["clock_mode"] == "x5"
    assert served["media_dir"] == "var/sandbox-media"
    call_command("sandbox")
    assert served["clock_mode"] is None


def test_the_command_refuses_a_clock_that_does_not_exist():
    with pytest.raises(CommandError, match="clock must be"):
        call_command("sandbox", "--db", ":memory:", "--clock", "fast")


def test_the_program_refuses_it_too():
    with pytest.raises(SystemExit, match="clock must be"):
        server.main(["--db", ":memory:", "--clock", "fast"])
