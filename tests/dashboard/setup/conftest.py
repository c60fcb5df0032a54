"""An installation without a user, its set-up code, and what the first owner enters."""

from __future__ import annotations

import re
from io import StringIO

import pytest
from django.core.management import call_command

from dashboard.shared.setup_required import SetupRequiredMiddleware


@pytest.fixture(autouse=True)
def _nobody_yet(db, monkeypatch):
    monkeypatch.setattr(SetupRequiredMiddleware, "has_users", False)


@pytest.fixture
def code():
    """The newest code, as the server's log shows it."""
    return print_code()


@pytest.fixture
def entered(code):
    return {
        "code": code,
        "team": "Northlight",
        "time_zone": "Europe/Stockholm",
        "name": "Mira Sandvik",
        "email": "Mira@Northlight.example",
        "password": "four words in a row",
    }


def print_code():
    out = StringIO()
    call_command("create_setup_code", stdout=out)
    found = re.search(r"[2-9A-Z]{4}-[2-9A-Z]{4}", out.getvalue())
    assert found
    return found[0]
