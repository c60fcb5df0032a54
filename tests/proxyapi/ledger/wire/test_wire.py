"""The mirror against the real sandbox: volumes in small, others who spend, changed histories."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from io import StringIO
from random import Random

import httpx
import pytest
from django.core.management import call_command
from django.utils import timezone

from proxyapi import ledger
from proxyapi.charges import reconcile_charge
from proxyapi.ledger import recheck_old_pages
from proxyapi.models import Charge, ChargeState, Job, LedgerMirror
from tests.factories import UserFactory
from tests.proxyapi.ledger.wire import volume_checks
from tests.proxyapi.ledger.wire.sandbox_service import SandboxService, mirrored_texts
from tests.reconciliation import build_reconciliation

ROWS = 620


def test_every_row_is_there_once_for_a_request_a_page(sandbox_service: SandboxService) -> None:
    found = volume_checks.measure_volume(sandbox_service, ROWS, 60, Random(7))  # noqa: S311
    assert (found.requests, found.again, found.twins) == (ROWS // 50 + 2, 1, 60)
    assert found.readings == found.requests + found.of_api
    assert not found.missing
    assert not found.added


@pytest.mark.django_db(transaction=True)
def test_rows_that_arrive_while_it_reads_are_there_once(sandbox_service: SandboxService) -> None:
    missing, added = volume_checks.mirror_while_inserting(sandbox_service, 300, 60)
    assert not missing
    assert not added


def test_what_others_spend_is_outside_the_portal(sandbox_service: SandboxService, job: Job) -> None:
    found = volume_checks.run_spenders(sandbox_service, job, theirs=40, ours=8, chance=Random(6))  # noqa: S311
    assert found.outside == found.theirs
    assert found.outside_sum == found.theirs_sum
    assert (found.taken, found.unmatched, found.twice) == (0, 0, 0)


def test_the_mirror_agrees_with_the_services_ledger(
    sandbox_service: SandboxService, job: Job
) -> None:
    volume_checks.charge_job(job)
    sandbox_service.spend_outside(30)
    sandbox_service.spend_outside(-500)
    ledger.mirror_entries(sandbox_service.account)
    ledger.take_checkpoint(sandbox_service.account)
    volume_checks.charge_job(job)
    sandbox_service.spend_by_script()
    out = StringIO()
    call_command("verify_ledger", "--reread", stdout=out)
    kept, theirs = build_reconciliation(sandbox_service.account), sandbox_service.money()
    assert kept.balance_exact == theirs["balance"]
    assert (kept.opening_balance, kept.entries_sum) == (theirs["opening"], theirs["ledger_sum"])
    assert (kept.charged, kept.matched, kept.outside, kept.credited) == (8, 8, 34, 500)
    assert kept.differences == []
    assert "No differences." in out.getvalue()


def test_a_rewritten_row_is_noticed(
    sandbox_service: SandboxService, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox_service.insert_rows(*[-4] * 120)
    ledger.mirror_entries(sandbox_service.account)
    found = volume_checks.detect_by_recheck(sandbox_service, 20, monkeypatch)
    assert found.is_detected
    assert (found.requests, found.simulated) == (4, 2 * recheck_old_pages.RECHECK_INTERVAL)
    ledger.accept_all_upstream_versions(
        sandbox_service.account,
        UserFactory().pk,
        ledger.count_open_conflicts(sandbox_service.account).fingerprint,
    )
    assert ledger.mirror_entries(sandbox_service.account)
    assert mirrored_texts(sandbox_service.account) == sandbox_service.row_texts()


def test_a_rewritten_row_is_noticed_by_who_reads_all_of_it_again(
    sandbox_service: SandboxService,
) -> None:
    sandbox_service.insert_rows(*[-4] * 120)
    ledger.mirror_entries(sandbox_service.account)
    found = volume_checks.detect_by_request(sandbox_service, 60)
    assert found.is_detected
    assert found.requests == 3


def test_a_ledger_that_lost_rows_is_noticed(sandbox_service: SandboxService) -> None:
    sandbox_service.insert_rows(*[-4] * 120)
    ledger.mirror_entries(sandbox_service.account)
    sandbox_service.change_entries(lambda entries: entries.__delitem__(slice(100, None)))
    assert not ledger.mirror_entries(sandbox_service.account)
    assert "it had 120, now it has 100" in LedgerMirror.objects.get().problem


def test_a_lost_charge_is_settled_within_a_minute_after_the_trouble_ends(
    sandbox_service: SandboxService, job: Job, control: httpx.Client
) -> None:
    """Even while ten thousand older rows are still to be read."""
    sandbox_service.insert_rows(*[-4] * 2_000)
    fault(control, "*/scripts", 1)
    charge = sent_and_lost(job)
    fault(control, "*/credits/history", 3)
    for _ in range(3):
        assert settled(charge) == ChargeState.UNKNOWN
        assert charge.due_at <= timezone.now() + timedelta(seconds=10)
    assert settled(charge) == ChargeState.MATCHED
    assert charge.cost == Decimal(4)
    assert LedgerMirror.objects.get().low > 0


def fault(control: httpx.Client, path: str, times: int) -> None:
    rule = {"match": {"path": path}, "when": "after", "action": "close", "times": times}
    assert control.post("faults", json=rule).is_success


def sent_and_lost(job: Job) -> Charge:
    with pytest.raises(AssertionError):
        volume_checks.charge_job(job)
    charge = Charge.objects.get()
    Charge.objects.update(lost_at=timezone.now() - timedelta(seconds=31))
    return charge


def settled(charge: Charge) -> str:
    reconcile_charge(charge.pk)
    charge.refresh_from_db()
    return str(charge.state)
