"""Settings that would send tokens to the wrong place end in a sentence before anything starts."""

from __future__ import annotations

import os
import subprocess
import sys
from uuid import uuid4

import pytest

IMPORT = "import dashboard.settings"


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("http://api.example/v2", "VIDEO_API_BASE_URL must start with https://"),
        ("https://api.example", "VIDEO_API_BASE_URL must end in /v2"),
        ("https://api.example/v2/", ""),
        ("http://127.0.0.1:9/v2", ""),
    ],
)
def test_g9_the_service_is_asked_over_https_and_under_its_version(address: str, told: str) -> None:
    environ = {
        **os.environ,
        "SECRET_KEY": f"{uuid4()}{uuid4()}",
        "SEALING_KEYS": "k1:nobody reads it here",
        "VIDEO_API_BASE_URL": address,
    }
    done = subprocess.run(
        [sys.executable, "-c", IMPORT], env=environ, capture_output=True, text=True, check=False
    )
    assert (done.returncode == 0) is not bool(told), done.stderr
    assert told in done.stderr
