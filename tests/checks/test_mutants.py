"""The drills of mutants change texts of the code, so they must find each of them."""

from __future__ import annotations

from pathlib import Path

from tests.cases import each_case
from tests.drills.charging.test_mutants import MUTANTS as CHARGE_MUTANTS
from tests.drills.test_mutants import MUTANTS as OTHER_MUTANTS

ROOT = Path(__file__).parents[2]
MUTANTS = {**CHARGE_MUTANTS, **OTHER_MUTANTS}
WANTED = 60


@each_case("name", MUTANTS)
def test_the_text_that_a_mutant_replaces_occurs_once(name: str) -> None:
    mutant = MUTANTS[name]
    assert (ROOT / mutant.file).read_text(encoding="utf-8").count(mutant.old) == 1
    for path in mutant.test_paths:
        file, _, test = path.partition("::")
        assert f"def {test}" in (ROOT / file).read_text(encoding="utf-8")


def test_there_are_enough_of_them() -> None:
    assert len(MUTANTS) == len(CHARGE_MUTANTS) + len(OTHER_MUTANTS)
    assert len(MUTANTS) >= WANTED
