"""Several processes on one ledger, and processes that are killed in the middle of it."""

from __future__ import annotations

import subprocess
import threading

import pytest

from proxyapi import ledger
from proxyapi.models import LedgerEntry, LedgerMirror
from tests.drills import portal_commands
from tests.proxyapi.ledger.wire.sandbox_service import SandboxService, mirrored_texts

pytestmark = pytest.mark.django_db(transaction=True)
MIRROR = """
import sys, django
django.setup()
from proxyapi import calls, ledger
from proxyapi.rate_limiter import Permit
from proxyapi.models import Account
calls.acquire_permit = lambda *_: Permit(True, 0)
ledger.mirror_entries(Account.objects.get(pk=sys.argv[1]))
"""
ROWS = 800


def started(service: SandboxService) -> subprocess.Popen[str]:
    return portal_commands.start_program("-W", "ignore", "-c", MIRROR, str(service.account.pk))


def test_two_processes_at_once_mirror_every_row_once(sandbox_service: SandboxService) -> None:
    sandbox_service.insert_rows(*[-4] * ROWS)
    processes = [started(sandbox_service) for _ in range(2)]
    for process in processes:
        with process:
            _, err = process.communicate()
        assert process.returncode == 0, err
    assert mirrored_texts(sandbox_service.account) == sandbox_service.row_texts()
    assert LedgerMirror.objects.get().is_complete


def test_a_killed_process_leaves_what_it_read_and_the_next_goes_on(
    sandbox_service: SandboxService,
) -> None:
    sandbox_service.insert_rows(*[-4] * ROWS)
    with started(sandbox_service) as process:
        while LedgerEntry.objects.count() < 150 and process.poll() is None:
            threading.Event().wait(0.05)
        process.kill()
    row = LedgerMirror.objects.get()
    left = row.high - row.low
    assert LedgerEntry.objects.count() == left > 0
    sandbox_service.asked.clear()
    assert ledger.mirror_entries(sandbox_service.account)
    assert mirrored_texts(sandbox_service.account) == sandbox_service.row_texts()
    assert len(sandbox_service.full_ledger_pages()) <= (ROWS - left) // 50 + 2
