"""A small draw: some false answers, each on one of the charging operations, by the seed."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.proxyapi.money.false_answers import FALSE_ANSWERS, check_false_answers
from tests.proxyapi.money.in_process_sandbox import in_process_sandbox
from tests.proxyapi.money.operations import INTENT_MAKERS

CHANCE = Random(int(os.environ.get("DRILL_SEED", "5")))  # noqa: S311 - not for cryptography
NAMES = ["429", "403 processing", "a header a second", *CHANCE.sample(sorted(FALSE_ANSWERS), 3)]
DRAW = [(name, CHANCE.choice(sorted(INTENT_MAKERS))) for name in NAMES]


@pytest.mark.django_db(transaction=True)
def test_what_was_carried_out_and_answered_as_if_not_is_paid_once_and_never_denied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    with in_process_sandbox(tmp_path, monkeypatch, settings) as sandbox:
        found = [check_false_answers(sandbox, operation, [name]) for name, operation in DRAW]
    assert [problem for problems in found for problem in problems] == []
