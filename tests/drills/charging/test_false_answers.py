"""Each false answer × every charging operation: carried out, then answered as if it were not."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.drills.figures import Figures
from tests.proxyapi.money.false_answers import FALSE_ANSWERS, check_false_answers
from tests.proxyapi.money.in_process_sandbox import in_process_sandbox
from tests.proxyapi.money.operations import INTENT_MAKERS
from tests.settings import ON_POSTGRES

ONLY = os.environ.get("DRILL_OPERATIONS", "")  # names, separated by commas; for a closer look


@pytest.mark.django_db(transaction=True)
def test_no_false_answer_is_paid_twice_or_denied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    database = "PostgreSQL" if ON_POSTGRES else "SQLite"
    figures = Figures(f"false answers, {database}")
    names = ONLY.split(",") if ONLY else list(INTENT_MAKERS)
    with in_process_sandbox(tmp_path, monkeypatch, settings) as sandbox:
        found = [
            problem
            for operation in names
            for problem in check_false_answers(sandbox, operation, FALSE_ANSWERS)
        ]
    pairs = len(names) * len(FALSE_ANSWERS)
    told = f"{len(found)} of {pairs} paid twice, denied after three minutes or not explained"
    figures.report(told, "0", holds=not found, found=found)
    figures.close()
