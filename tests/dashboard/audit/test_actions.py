"""Every action of the enum is recorded by some code of the portal, and by its name alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dashboard.models import AuditAction
from tests.cases import each_case

SITE = Path(__file__).parents[3] / "dashboard"


@pytest.fixture(scope="module")
def recording_code() -> str:
    files = [it for it in SITE.rglob("*.py") if "audit_action" not in it.name]
    texts = [it.read_text() for it in files if "migrations" not in it.parts]
    return "\n".join(
        text for text in texts if re.search("record_(audit|account)_event|export_list", text)
    )


@each_case("action", AuditAction)
def test_every_action_is_recorded_somewhere(action: AuditAction, recording_code: str) -> None:
    assert re.search(rf"AuditAction\.{action.name}\b", recording_code)
    assert f'"{action.value}"' not in recording_code
