"""Each journey in a browser, with a sandbox that answers as version 1 of the service does."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.drills.figures import Figures
from tests.drills.test_mutations import OURS

BROWSER_TESTS = Path(__file__).parents[1] / "browser"
# They look at pages, not at what the service answers, or choose the dialect by themselves.
OTHERS = ("test_page_audit.py", "test_stylesheets.py", "test_past.py", "test_first_run.py")


def test_each_journey_comes_to_its_end_in_the_second_dialect() -> None:
    figures = Figures("journeys")
    files = sorted(file for file in BROWSER_TESTS.glob("test_*.py") if file.name not in OTHERS)
    environ = {name: value for name, value in os.environ.items() if name not in OURS}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "-m", "browser", *files],
        env={**environ, "REELROOM_DIALECT": "service-v1"},
        capture_output=True,
        text=True,
        check=False,
    )
    passed = re.search(r"(\d+) passed", done.stdout)
    figures.report(
        f"{passed[1] if passed else 0} journeys in service-v1 came to their end",
        "all",
        holds=done.returncode == 0 and passed is not None,
        found=done.stdout.splitlines()[-10:],
    )
    figures.close()
