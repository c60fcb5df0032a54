"""`make test`: on SQLite, then on PostgreSQL whatever asks the database, then in a browser.

CI runs all of them. Elsewhere the two slow parts are a draw, another one each time, so that the
whole takes minutes; what is asked for by name or place is run as it is asked for.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import time

PYTEST = (sys.executable, "-m", "pytest", "--quiet")
TWO_PROCESSES = ("-n", "2", "--dist", "loadfile")  # the files with most tests first
AS_SORTED = "--no-loadscope-reorder"  # as tests/conftest.py does
EXCEPT_BROWSER_AND_DRILLS = "not browser and not drill"
DRAW_ONE_IN = 8  # one in so many tests
PARTS: list[tuple[str, tuple[str, ...], dict[str, str], bool]] = [
    ("on SQLite", (*TWO_PROCESSES, AS_SORTED, "-m", EXCEPT_BROWSER_AND_DRILLS), {}, False),
    (
        "on PostgreSQL",
        (*TWO_PROCESSES, AS_SORTED, "-m", EXCEPT_BROWSER_AND_DRILLS, "--only-database"),
        {"TEST_DATABASE": "postgresql"},
        True,
    ),
    (
        "in a browser",
        (*TWO_PROCESSES, "-m", "browser", "-p", "no:randomly", "tests/browser"),
        {},
        True,
    ),
]


def main() -> int:
    seed = os.environ.get("TEST_DRAW") or str(secrets.randbelow(10**6))
    for name, options, environment, slow in PARTS:
        started = time.monotonic()
        is_drawn = slow and not (sys.argv[1:] or os.environ.get("CI") == "true")
        print(f"Tests {name}{describe_draw(seed) if is_drawn else ''}", flush=True)
        draw = ("--draw", f"{DRAW_ONE_IN}:{seed}") if is_drawn else ()
        environ = {**os.environ, **environment}
        done = subprocess.run([*PYTEST, *options, *draw, *sys.argv[1:]], env=environ, check=False)
        if done.returncode:
            print(f"Tests {name}: failed", file=sys.stderr)
            return done.returncode
        print(f"Tests {name}: passed in {time.monotonic() - started:.0f} s\n", flush=True)
    return 0


def describe_draw(seed: str) -> str:
    return f": one in {DRAW_ONE_IN}, the draw is TEST_DRAW={seed}; CI=true runs all"


if __name__ == "__main__":
    sys.exit(main())
