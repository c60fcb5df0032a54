"""`make bench` starts in a process of its own, as it is called."""

from __future__ import annotations

import os
import subprocess
import sys


def test_a_part_that_there_is_not_is_named_with_those_that_there_are() -> None:
    environ = {name: it for name, it in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    command = [sys.executable, "-m", "tests.bench", "poling"]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("There is no part 'poling'. The parts: polling, ")
