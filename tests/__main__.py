"""`make test`: every test on SQLite, then the journeys in a browser; the same ones each time.

With `CI=true` what PostgreSQL can change runs on it, too: transactional tests, files with the mark
`postgresql`, and each page once. Paths or names after `python -m tests` are run as they are asked
for; `TEST_ONLY=changed` runs what the changes since `main` reach (tests/changes.py).

What failed has failed. Of the journeys alone what failed in at most three files is run once more,
alone, and is named: it has a cause that needs mending (decision 15). A test that hangs fails at its
limit and says where it was.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.changes import find_reached_tests

ROOT = Path(__file__).resolve().parents[1]
TEST_TIMEOUT_S = 420  # three times the slowest test with its set-up
# By a signal, as it fails in its own process: pytest-xdist starts a test whose process ended again.
TIME_LIMIT = (f"--timeout={TEST_TIMEOUT_S}", "--timeout-method=signal")
# One test at a time, so that no process is left with a whole file at the end; a file whose tests
# share a fixture stays together (tests/conftest.py). What is slow comes first.
SCHEDULING = ("--dist", "loadgroup", "--no-loadscope-reorder")
PYTEST = (sys.executable, "-m", "pytest", "--quiet", "--durations=30", *TIME_LIMIT)
LAST_FAILED_FILE = ROOT / ".pytest_cache/v/cache/lastfailed"
MAX_FILES_RUN_AGAIN = 3  # failures in more files have a cause that is not what ran beside them
FOUND_NONE = pytest.ExitCode.NO_TESTS_COLLECTED


class Part(NamedTuple):
    name: str
    options: tuple[str, ...]
    environ: dict[str, str] = {}
    folder: str = "tests"  # nothing outside it is collected
    processes: int = 3  # of two cores: a fifth of the time, a test waits for a process or a lock
    tries_again: bool = False


SQLITE = Part("on SQLite", ("-m", "not browser and not drill"))
POSTGRESQL = Part(
    "on PostgreSQL",
    ("-m", "not browser and not drill", "--postgresql"),
    {"TEST_DATABASE": "postgresql"},
)
BROWSER = Part(
    "in a browser",
    ("-m", "browser and not drill", "-p", "no:randomly"),
    folder="tests/browser",
    tries_again=True,
)


def main() -> int:
    asked_for = sys.argv[1:]
    if not asked_for and os.environ.get("TEST_ONLY") == "changed":
        asked_for = find_reached_tests(ROOT)
        print(f"Reached by the changes since main: {len(asked_for)} files of tests", flush=True)
    in_ci = os.environ.get("CI") == "true"
    for part in (SQLITE, POSTGRESQL, BROWSER) if in_ci else (SQLITE, BROWSER):
        started, used = time.monotonic(), processor_seconds()
        print(f"Tests {part.name}", flush=True)
        parallel = ("-n", str(part.processes), *SCHEDULING)
        status = run_tests(part, *parallel, *(asked_for or [part.folder]))
        if status == pytest.ExitCode.TESTS_FAILED and part.tries_again:
            status = run_failed_again(part)
        if status and not (asked_for and status == FOUND_NONE):
            print(f"Tests {part.name}: failed", file=sys.stderr)
            return status
        took, used = time.monotonic() - started, processor_seconds() - used
        times = f"{took:.0f} s, with {used:.0f} processor seconds"
        print(f"Tests {part.name}: passed in {times}\n", flush=True)
    return 0


def processor_seconds() -> float:
    """What the programs that have ended took, those that they had started among them."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run_tests(part: Part, *options: str) -> int:
    command = [*PYTEST, *part.options, *options]
    return subprocess.run(command, env={**os.environ, **part.environ}, check=False).returncode


def run_failed_again(part: Part) -> int:
    """Run the tests that failed once more, one after the other; return the exit status."""
    failed = [strip_group(test) for test in json.loads(LAST_FAILED_FILE.read_text())]
    if len({test.partition("::")[0] for test in failed}) > MAX_FILES_RUN_AGAIN:
        return pytest.ExitCode.TESTS_FAILED
    print(f"FAILED BESIDE OTHERS: {len(failed)}, run again alone:", *failed, sep="\n  ", flush=True)
    return run_tests(part, "-n", "0", *failed)


def strip_group(test: str) -> str:
    """The name of a test without what pytest-xdist adds for its group."""
    name, _, group = test.rpartition("@")
    return name if name and "]" not in group else test


if __name__ == "__main__":
    sys.exit(main())
