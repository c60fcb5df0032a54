"""`make test`: on SQLite, then on PostgreSQL whatever asks the database, then in a browser.

Elsewhere than in CI the two slow parts are a draw, another one each time, so that the whole takes
minutes; what is asked for by name or place is run as it is asked for. CI runs every test: what asks
the database on PostgreSQL, as production does, and a draw of that on SQLite too, on which every
run elsewhere has it whole.

Two processes share two cores, so a test of real processes may wait in vain for what another one
delays. What failed in a few files is run once more, alone, and is named; what fails then has
failed. A test that hangs fails after some minutes and says where it was.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pytest

TEST_TIMEOUT_S = 420  # three times the slowest test with its set-up
# By a signal, as it fails in its own process: pytest-xdist starts a test whose process ended again.
TIME_LIMIT = (f"--timeout={TEST_TIMEOUT_S}", "--timeout-method=signal")
PYTEST = (sys.executable, "-m", "pytest", "--quiet", *TIME_LIMIT)
TWO_PROCESSES = ("-n", "2", "--dist", "loadfile")  # the files with most tests first
AS_SORTED = "--no-loadscope-reorder"  # as tests/conftest.py does
EXCEPT_BROWSER_AND_DRILLS = (*TWO_PROCESSES, AS_SORTED, "-m", "not browser and not drill")
ONLY_DATABASE = (*EXCEPT_BROWSER_AND_DRILLS, "--only-database")
BROWSER = (*TWO_PROCESSES, "-m", "browser", "-p", "no:randomly", "tests/browser")
POSTGRESQL = {"TEST_DATABASE": "postgresql"}
DRAW_ONE_IN = 8  # one in so many tests
LAST_FAILED_FILE = Path(".pytest_cache/v/cache/lastfailed")
MAX_FILES_RUN_AGAIN = 3  # failures in more files have a cause that is not the load


class Part(NamedTuple):
    name: str
    options: tuple[str, ...]
    environ: dict[str, str] = {}
    is_drawn: bool = False


PARTS = [
    Part("on SQLite", EXCEPT_BROWSER_AND_DRILLS),
    Part("on PostgreSQL", ONLY_DATABASE, POSTGRESQL, is_drawn=True),
    Part("in a browser", BROWSER, is_drawn=True),
]
CI_PARTS = [
    Part("without a database", (*EXCEPT_BROWSER_AND_DRILLS, "--without-database")),
    Part("on PostgreSQL", ONLY_DATABASE, POSTGRESQL),
    Part("on SQLite", ONLY_DATABASE, is_drawn=True),
    Part("in a browser", BROWSER),
]


def main() -> int:
    seed = os.environ.get("TEST_DRAW") or str(secrets.randbelow(10**6))
    asked_for = sys.argv[1:]
    for part in CI_PARTS if os.environ.get("CI") == "true" and not asked_for else PARTS:
        started = time.monotonic()
        is_drawn = part.is_drawn and not asked_for
        print(f"Tests {part.name}{describe_draw(seed) if is_drawn else ''}", flush=True)
        draw = ("--draw", f"{DRAW_ONE_IN}:{seed}") if is_drawn else ()
        environ = {**os.environ, **part.environ}
        command = [*PYTEST, *part.options, *draw, *asked_for]
        status = subprocess.run(command, env=environ, check=False).returncode
        if status == pytest.ExitCode.TESTS_FAILED:
            status = run_failed_again(command, environ)
        if status:
            print(f"Tests {part.name}: failed", file=sys.stderr)
            return status
        print(f"Tests {part.name}: passed in {time.monotonic() - started:.0f} s\n", flush=True)
    return 0


def run_failed_again(command: list[str], environ: dict[str, str]) -> int:
    """Run the tests that failed once more, one after the other; return the exit status."""
    failed = json.loads(LAST_FAILED_FILE.read_text())
    # One set-up that waited in vain fails all tests of its file.
    if len({test.partition("::")[0] for test in failed}) > MAX_FILES_RUN_AGAIN:
        return pytest.ExitCode.TESTS_FAILED
    print("Failed beside other tests, and run again alone:", *failed, sep="\n  ", flush=True)
    again = [*command, "-n", "0", "--last-failed"]
    return subprocess.run(again, env=environ, check=False).returncode


def describe_draw(seed: str) -> str:
    return f": one in {DRAW_ONE_IN}, the draw is TEST_DRAW={seed}"


if __name__ == "__main__":
    sys.exit(main())
