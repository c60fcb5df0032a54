"""5,000 mutated answers for each thing that is read: no exception, no false state (proof B6)."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from tests.drills.figures import Figures

ANSWERS = os.environ.get("DRILL_ANSWERS", "5000")
FILES = (
    "tests/proxyapi/upstream/test_mutated_answers.py",
    "tests/proxyapi/test_mutated_records.py",
)


# Of this run; the one within makes its own.
OURS = ("REELROOM_TEST_DIR", "REDIS_URL", "DATABASE_URL", "REELROOM_VAR")


def test_five_thousand_mutated_answers_raise_nothing_and_tell_nothing_false() -> None:
    figures = Figures("mutations")
    environ = {name: value for name, value in os.environ.items() if name not in OURS}
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:randomly"),
            *(f"--hypothesis-seed={figures.seed}", *FILES),
        ],
        env={**environ, "REELROOM_EXAMPLES": ANSWERS},
        capture_output=True,
        text=True,
        check=False,
    )
    passed = re.search(r"(\d+) passed", done.stdout)
    figures.tell(
        f"{passed[1] if passed else 0} kinds of reading, {ANSWERS} mutated answers each, "
        f"{'none raised or lied' if done.returncode == 0 else done.stdout[-1500:]}",
        "0 exceptions, 0 false states",
        holds=done.returncode == 0 and passed is not None,
    )
    figures.close()
