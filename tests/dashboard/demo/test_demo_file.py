"""`var/demo.json` stays true, and stays for its owner alone."""

from __future__ import annotations

import json
import stat

import pytest

from dashboard.demo import demo_team


@pytest.fixture
def path(settings, tmp_path):
    settings.VAR = tmp_path
    written = {"portal": "http://127.0.0.1:8000", "sandbox": "http://127.0.0.1:8001", "people": []}
    return demo_team.write_demo_file(tmp_path / "demo.json", written)


def test_it_is_for_its_owner_alone(path):
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_start_with_other_ports_changes_the_addresses_and_nothing_else(path):
    demo_team.update_demo_addresses("http://127.0.0.1:9000", "http://127.0.0.1:9001")

    written = json.loads(path.read_text())
    assert written["portal"] == "http://127.0.0.1:9000"
    assert written["sandbox"] == "http://127.0.0.1:9001"
    assert written["people"] == []
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_without_a_demo_there_is_nothing_to_move(settings, tmp_path):
    settings.VAR = tmp_path

    demo_team.update_demo_addresses("http://127.0.0.1:9000", "http://127.0.0.1:9001")

    assert list(tmp_path.iterdir()) == []
