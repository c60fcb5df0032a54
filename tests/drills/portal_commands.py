"""Processes of the portal beside a test, on the test's own database."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from django.conf import settings
from django.db import connection

from tests.settings import ON_POSTGRES, POSTGRES_DIR

ROOT = Path(__file__).parents[2]


def portal_environment(**changes: str) -> dict[str, str]:
    """The environ of such a process; `changes` go before."""
    name = connection.settings_dict["NAME"]
    address = f"postgres://postgres@/{POSTGRES_DIR}/{name}" if ON_POSTGRES else f"sqlite:///{name}"
    known = {
        "DJANGO_SETTINGS_MODULE": "dashboard.settings",
        "DATABASE_URL": address,
        "REDIS_URL": settings.REDIS_URL,
        "ENCRYPTION_KEYS": settings.ENCRYPTION_KEYS,
        "VIDEO_API_BASE_URL": settings.VIDEO_API_BASE_URL,
    }
    return {**os.environ, **known, **changes}


def start_program(*command: str, **changes: str) -> subprocess.Popen[str]:
    """`python -m` or a file with its arguments; standard input and output are pipes of text."""
    return subprocess.Popen(
        [sys.executable, *command],
        cwd=ROOT,
        env=portal_environment(**changes),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run_program(*command: str, **changes: str) -> subprocess.CompletedProcess[str]:
    """The same to its end, whatever its exit status."""
    with start_program(*command, **changes) as process:
        out, err = process.communicate(timeout=300)
    return subprocess.CompletedProcess(command, process.returncode, out, err)
