"""The drill of mutants changes texts of the charging code, so it must find each of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.drills.charging.test_mutants import MUTANTS

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("name", MUTANTS)
def test_the_text_that_a_mutant_replaces_occurs_once(name: str) -> None:
    mutant = MUTANTS[name]
    assert (ROOT / mutant.file).read_text(encoding="utf-8").count(mutant.old) == 1
