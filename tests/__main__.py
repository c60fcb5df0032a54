"""`make test`: on SQLite, then on PostgreSQL whatever asks the database, then in a browser."""

from __future__ import annotations

import os
import subprocess
import sys
import time

PYTEST = (sys.executable, "-m", "pytest", "--quiet")
TWO = ("-n", "2", "--dist", "loadfile")  # the files with most tests first
AS_SORTED = "--no-loadscope-reorder"  # as tests/conftest.py does
SERVERS = "not browser and not drill"
PARTS: list[tuple[str, tuple[str, ...], dict[str, str]]] = [
    ("on SQLite", (*TWO, AS_SORTED, "-m", SERVERS), {}),
    (
        "on PostgreSQL",
        (*TWO, AS_SORTED, "-m", SERVERS, "--only-database"),
        {"TEST_DATABASE": "postgresql"},
    ),
    ("in a browser", (*TWO, "-m", "browser", "-p", "no:randomly", "tests/browser"), {}),
]


def main() -> int:
    for name, options, environment in PARTS:
        started = time.monotonic()
        print(f"Tests {name}", flush=True)
        environ = {**os.environ, **environment}
        done = subprocess.run([*PYTEST, *options, *sys.argv[1:]], env=environ, check=False)
        if done.returncode:
            print(f"Tests {name}: failed", file=sys.stderr)
            return done.returncode
        print(f"Tests {name}: passed in {time.monotonic() - started:.0f} s\n", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
