"""No process starts with keys that do not open what is stored, whichever it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from celery.signals import beat_init, worker_init
from django.core.management import call_command
from django.core.management.base import SystemCheckError

from dashboard.startup_checks import run_startup_checks_in_thread
from proxyapi.credentials import encryption
from tests.drills import portal_commands
from tests.factories import TokenFactory

pytestmark = pytest.mark.django_db(transaction=True)  # another thread and process see the token
ANOTHER = f"k2:{encryption.generate_encryption_key()}"
ANOTHER_REFUSAL = "1 tokens need keys that are missing in ENCRYPTION_KEYS: {'k1'}"
# What each kind of process does as it starts.
STARTS: dict[str, Callable[[], object]] = {
    "prepare": lambda: call_command("prepare"),
    "web": run_startup_checks_in_thread,
    "worker": lambda: worker_init.send(sender=None),
    "beat": lambda: beat_init.send(sender=None),
}


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ("", "There is no encryption key."),
        ("k1:AAAA", "The encryption key 'k1' has 3 bytes instead of 32."),
        (ANOTHER, ANOTHER_REFUSAL),
    ],
    ids=["missing", "unusable", "another"],
)
def test_with_a_wrong_key_no_process_starts_and_each_says_why(
    keys: str, sentence: str, settings: Any
) -> None:
    TokenFactory.create()
    settings.ENCRYPTION_KEYS, settings.DEMO = keys, "none"
    for name, start in STARTS.items():
        with pytest.raises((SystemExit, SystemCheckError)) as end:
            start()
        assert sentence in str(end.value), name
        assert ANOTHER.partition(":")[2] not in str(end.value), name


def test_the_web_server_checks_its_keys_before_it_listens() -> None:
    """A real process, on this database."""
    TokenFactory.create()
    done = portal_commands.run_program("-c", "import dashboard.asgi", ENCRYPTION_KEYS=ANOTHER)
    assert done.returncode == 1
    assert ANOTHER_REFUSAL in done.stderr
    assert ANOTHER.partition(":")[2] not in done.stderr
