"""Every table is pruned or kept on purpose, and the page says so."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.checks import retention
from tests.checks.retention import ROOT, age_text, find_retention_problems


def test_the_page_says_what_is_deleted_when() -> None:
    assert list(find_retention_problems(ROOT)) == []


def test_a_table_without_a_decision_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "KEPT", retention.KEPT.replace("AuditEvent", "Quote Nothing"))
    problems = "\n".join(find_retention_problems(ROOT))
    assert "how long rows of AuditEvent are kept" in problems
    assert "there is no table Nothing" in problems
    assert "Quote is pruned and kept" in problems


@pytest.mark.parametrize(
    ("hours", "text"), [(1, "1 hour"), (2, "2 hours"), (24, "1 day"), (36, "36 hours")]
)
def test_ages_are_words(hours: int, text: str) -> None:
    assert age_text(timedelta(hours=hours)) == text
