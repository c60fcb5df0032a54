"""Copies of the code with one fault each: a test that is named has to turn red.

`tests/checks/test_mutants.py` fails where the text of a mutant is no longer in its file.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from tests.drills.figures import Figures

ROOT = Path(__file__).parents[2]
COPIED = ("proxyapi", "dashboard", "tests", "templates", "static", "manage.py", "pyproject.toml")
# Of this run; the one in the copy makes its own.
OURS = ("REELROOM_TEST_DIR", "DATABASE_URL", "REDIS_URL", "REELROOM_VAR")
CHARGES = "proxyapi/charges/"
GREEN, RED, BROKEN = "green", "red", "broken"


class Mutant(NamedTuple):
    """In this file, `old` becomes `new`; then a test in one of these files turns red."""

    file: str
    old: str
    new: str
    tests: str  # files or test ids below tests/, or names of files of CHARGES; between blanks

    @property
    def test_paths(self) -> list[str]:
        names = (CHARGES * name.startswith("test_") + name for name in self.tests.split())
        return [f"tests/{name}" for name in names]


def copy_sources(folder: Path) -> Path:
    for name in COPIED:
        if (ROOT / name).is_dir():
            leave = shutil.ignore_patterns("__pycache__", "node_modules")
            shutil.copytree(ROOT / name, folder / name, ignore=leave)
        else:
            folder.mkdir(exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


def report_mutants(title: str, mutants: Mapping[str, Mutant], copy: Path) -> None:
    """Report how many of the mutants turned a test red; name the survivors."""
    figures = Figures(title)
    named = sorted({path for mutant in mutants.values() for path in mutant.test_paths})
    figures.report("without a mutation", "green", holds=run_tests(copy, named) == GREEN)
    survivors = [name for name, mutant in mutants.items() if survives_mutant(copy, mutant)]
    killed = len(mutants) - len(survivors)
    figures.report(
        f"{killed} of {len(mutants)} mutants turned tests red",
        "all of them",
        holds=not survivors,
        found=survivors,
    )
    figures.close()


def survives_mutant(copy: Path, mutant: Mutant) -> bool:
    path = copy / mutant.file
    whole = path.read_text()
    assert whole.count(mutant.old) == 1, mutant
    path.write_text(whole.replace(mutant.old, mutant.new))
    try:
        return run_tests(copy, mutant.test_paths) != RED
    finally:
        path.write_text(whole)


def run_tests(copy: Path, paths: Iterable[str]) -> str:
    """How these tests end in the copy. Its tables come from the models, not the migrations.

    Only a test that fails is red: code that does not even start, or tables that cannot be made,
    would be missed by nobody.
    """
    environment = {name: value for name, value in os.environ.items() if name not in OURS}
    command = [sys.executable, "-m", "pytest", *paths, "-x", "-q", "-p", "no:randomly"]
    command += ["--no-migrations", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, check=False)
    summary = done.stdout.decode().strip().rpartition("\n")[2]
    is_red = done.returncode == 1 and " failed" in summary and " error" not in summary
    found = GREEN if done.returncode == 0 else RED if is_red else BROKEN
    if found == BROKEN:
        print(done.stdout.decode()[-2000:])
    return found
