"""No process starts with keys that do not open what is stored, whichever it is."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence

import pytest

from dashboard.up.__main__ import BEAT_COMMAND, PREPARE_COMMAND, WORKER_COMMAND, web_command
from dashboard.up.install_paths import Installation
from proxyapi.credentials import encryption
from tests.drills import portal_commands
from tests.factories import TokenFactory
from tests.proxyapi.money.conftest import free_port
from tests.settings import TEST_DIR

# Other processes see what is committed. Slow because it starts a dozen of them.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
ANOTHER = f"k2:{encryption.generate_encryption_key()}"
PATIENCE = 120.0  # seconds for all together; what should have ended by then runs


def programs() -> dict[str, Sequence[str]]:
    """What `make run` and docker-compose.yml start with a key ring."""
    site = web_command(Installation(TEST_DIR / "var", free_port(), 0, None, None))
    return {"prepare": PREPARE_COMMAND, "web": site, "worker": WORKER_COMMAND, "beat": BEAT_COMMAND}


def ends_of(keys: str) -> dict[str, tuple[int | None, str]]:
    """How each ends and what it says, with these keys; None for one that goes on."""
    until = time.monotonic() + PATIENCE
    begun = {
        name: portal_commands.start_program(*command[1:], ENCRYPTION_KEYS=keys, DEMO="none")
        for name, command in programs().items()
    }
    return {name: end_of(process, until) for name, process in begun.items()}


def end_of(process: subprocess.Popen[str], until: float) -> tuple[int | None, str]:
    with process:
        try:
            _, said = process.communicate(timeout=max(0.1, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.terminate()
            process.communicate()
            return None, "It runs."
    return process.returncode, said


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ("", "ENCRYPTION_KEYS is not set."),
        ("k1:AAAA", "The encryption key 'k1' has 3 bytes instead of 32."),
        (ANOTHER, "1 tokens need keys that are missing in ENCRYPTION_KEYS: {'k1'}"),
    ],
    ids=["missing", "unusable", "another"],
)
def test_with_a_wrong_key_no_process_starts_and_each_says_why(keys: str, sentence: str) -> None:
    TokenFactory.create()
    for name, (status, said) in ends_of(keys).items():
        assert status, f"{name}: {said}"
        assert sentence in said, name
        assert ANOTHER.partition(":")[2] not in said, name
