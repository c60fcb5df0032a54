"""One fault at a time in charges, ledger, polling, access and budgets: tests turn red."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.drills.access_mutants import ACCESS
from tests.drills.ledger_mutants import LOST_CHARGES, VIEW_OF_API_SPEND
from tests.drills.mutation import Mutant, copy_sources, report_mutants

GUARDS = "proxyapi/charges/test_guards.py"
DISPATCH, ADMISSION = "proxyapi/charges/dispatch.py", "proxyapi/charges/admission.py"
MATCHING = "proxyapi/ledger/matching_rules.py"
DUE_WORK, POLLER = "proxyapi/polling/due_work.py", "proxyapi/polling/poller.py"
FAILURE = "proxyapi/polling/poll_failure.py"
USAGE, CHARGING = "dashboard/shared/budget_usage.py", "dashboard/shared/charging.py"

CHARGES: Mapping[str, Mutant] = {
    "a claim is not durable": Mutant(
        DISPATCH,
        "    with durable_commits():\n        allowed =",
        "    if True:\n        allowed =",
        GUARDS,
    ),
    "any attempt's claim is current": Mutant(
        DISPATCH,
        "        pk=charge.pk, state=ChargeState.SENDING, attempts=charge.attempts\n",
        "        pk=charge.pk, state=ChargeState.SENDING\n",
        GUARDS,
    ),
    "a negative cost is accepted": Mutant(
        "proxyapi/charges/transitions.py",
        "        elif shown and cost is not None and cost >= 0:\n",
        "        elif shown and cost is not None:\n",
        GUARDS,
    ),
    "an answer is applied without the account's lock": Mutant(
        "proxyapi/charges/transitions.py",
        "        lock_charge_account(charge)\n        # A sweep may have marked it",
        "        # A sweep may have marked it",
        GUARDS,
    ),
    "a charge is admitted without the account's lock": Mutant(
        ADMISSION,
        "    account = Account.objects.get_locked(intent.account_id)\n",
        "    account = Account.objects.get(pk=intent.account_id)\n",
        GUARDS,
    ),
    "the last credit of the balance cannot be spent": Mutant(
        "proxyapi/refusals.py",
        "return not self.hold or self.hold <= self.available\n",
        "return not self.hold or self.hold < self.available\n",
        GUARDS,
    ),
    "a limit is exceeded by its own amount": Mutant(
        ADMISSION,
        "if hold and hold > limit.remaining]",
        "if hold and hold >= limit.remaining]",
        "dashboard/budgets/test_second_person.py::test_the_amount_itself_is_not_above_the_rule",
    ),
    "a form may be used for something else": Mutant(
        ADMISSION,
        "    if (charge.job_id, charge.operation, charge.path, charge.body) != content:\n",
        "    if False:\n",
        "proxyapi/charges/test_admission.py::test_a_nonce_of_another_intent_is_refused",
    ),
    "what changed since the request is approved": Mutant(
        ADMISSION,
        "    check_unchanged_since_request(charge)\n    if price is not None:",
        "    if price is not None:",
        "dashboard/budgets/test_approval_decisions.py"
        "::test_what_changed_since_is_not_sent_and_the_approver_sees_it",
    ),
    "a charge is claimed after all charges were stopped": Mutant(
        DISPATCH,
        "Charge.objects.filter(tenant__charges_stopped_at=None, tenant__suspended_at=None)",
        "Charge.objects.all()",
        "proxyapi/charges/test_charge_stop.py",
    ),
    "any 429 is sent again": Mutant(
        "proxyapi/upstream/errors.py",
        "        return self.is_documented and self.retry_after is not None\n",
        "        return True\n",
        "proxyapi/charges/test_second_sending.py",
    ),
    "a 429 proves that nothing was charged": Mutant(
        "proxyapi/upstream/errors.py",
        "self.free_outcome if self.proves_no_charge or not is_charging else ErrorOutcome.UNKNOWN\n",
        "self.free_outcome\n",
        "proxyapi/charges/test_second_sending.py",
    ),
    "a second sending does not look again": Mutant(
        DISPATCH,
        "        if doubt_if_carried_out(charge, record) or end_if",
        "        if end_if",
        "proxyapi/charges/test_second_sending.py",
    ),
    "what is sent is cancelled": Mutant(
        ADMISSION,
        "    if charge.state != ChargeState.HELD:\n        return False\n",
        "",
        GUARDS,
    ),
}
LEDGER: Mapping[str, Mutant] = {
    "a row that reads differently is not noticed": Mutant(
        "proxyapi/ledger/mirror_range.py",
        "if entry_raw_values(entry) != row.raw_values]",
        "if entry_raw_values(entry) is None]",
        "proxyapi/ledger/test_conflicts.py",
    ),
    "rows that are gone are not noticed": Mutant(
        "proxyapi/ledger/mirror_range.py",
        "    missing = range(page.total, min(page.known_total, ledger.high))\n",
        "    missing = range(0)\n",
        "proxyapi/ledger/test_conflicts.py",
    ),
    "new rows are taken from the wrong place of a page": Mutant(
        "proxyapi/ledger/mirror_range.py",
        "    rows = page.rows[low - page.start : high - page.start]\n",
        "    rows = page.rows[: high - low]\n",
        "proxyapi/ledger/test_mirror.py",
    ),
    "twins are certain": Mutant(
        MATCHING,
        "    if debits_near == candidates_near == 1:\n",
        "    if debits_near:\n",
        "proxyapi/ledger/test_matching.py",
    ),
    "any of several may be the one": Mutant(
        MATCHING,
        "        if len(rows) == 1 and sum(fits(other, rows[0]) for other in candidates) == 1:\n",
        "        if rows:\n",
        "proxyapi/ledger/test_matching_rules.py",
    ),
    "an amount may be anything": Mutant(
        MATCHING,
        "and low <= -entry.amount <= high",
        "",
        "proxyapi/ledger/test_matching.py",
    ),
    "one debit settles two charges": Mutant(
        MATCHING,
        "                    open_debits.remove(entry)\n",
        "",
        "proxyapi/ledger/test_matching_rules.py",
    ),
    "a refund may come before its debit": Mutant(
        "proxyapi/ledger/refunds.py",
        "    if debit is not None and entry.position < debit.position:\n        return False\n",
        "",
        "proxyapi/ledger/test_matching.py",
    ),
    "every credit is a refund": Mutant(
        "proxyapi/ledger/refunds.py",
        '    return mentions_refund(entry) or entry.content_type in content_types - {""}\n',
        "    return True\n",
        "proxyapi/ledger/test_matching.py",
    ),
    "one refund is given to two charges": Mutant(
        "proxyapi/ledger/refunds.py",
        "            open_credits.remove(chosen)\n",
        "",
        "proxyapi/ledger/test_matching.py proxyapi/ledger/test_refunds.py",
    ),
    "a checkpoint is taken while rows come": Mutant(
        "proxyapi/ledger/balance_checkpoint.py",
        " or after.high != before.high:\n",
        ":\n",
        "proxyapi/ledger/test_reconciliation.py",
    ),
    "another difference than the one seen is accepted": Mutant(
        "proxyapi/ledger/balance_checkpoint.py",
        "    if gap != seen:\n",
        "    if gap is None:\n",
        "proxyapi/ledger/test_reconciliation.py",
    ),
}
POLLING: Mapping[str, Mutant] = {
    "a task that runs twice polls twice": Mutant(
        POLLER,
        "    row = current_run(job).filter(next_poll_at=until or job.next_poll_at)\n",
        "    row = current_run(job)\n",
        "proxyapi/polling/test_failed_polls.py proxyapi/polling/test_two_ticks.py",
    ),
    "a job is polled before it is due": Mutant(
        POLLER,
        " or (until is None and job.next_poll_at > now):\n",
        ":\n",
        "proxyapi/polling/test_leases.py",
    ),
    "a job is polled more often than every five seconds": Mutant(
        POLLER,
        "    return (job.polled_at + MIN_POLL_INTERVAL - timezone.now()).total_seconds()\n",
        "    return 0.0\n",
        "proxyapi/polling/test_failed_polls.py",
    ),
    "a late answer is stored on the next run": Mutant(
        POLLER,
        "    saved = current_run(job).update(**fields)\n",
        "    saved = Job.objects.filter(pk=job.pk).update(**fields)\n",
        "proxyapi/test_late_polls.py",
    ),
    "no refund is owed for a failed clip": Mutant(
        POLLER,
        '    if saved and fields.get("state") == JobState.FAILED:\n',
        "    if not saved:\n",
        "proxyapi/polling/test_refunds.py",
    ),
    "polling never stops": Mutant(
        POLLER,
        "    if age > MAX_POLLING_AGE.total_seconds():\n",
        "    if age < 0:\n",
        "proxyapi/polling/test_failed_polls.py",
    ),
    "two ticks take a job twice": Mutant(
        DUE_WORK,
        " state=JobState.RUNNING, next_poll_at__lte=now + EARLY_POLL_TOLERANCE\n",
        " state=JobState.RUNNING\n",
        "proxyapi/polling/test_two_ticks.py proxyapi/polling/test_due_work.py",
    ),
    "all tokens probe a service that is away": Mutant(
        DUE_WORK,
        "{probe_token: 1} if circuit_breaker.acquire_probe_turn(environment) else {}",
        "{probe_token: 1}",
        "proxyapi/polling/test_circuit_breaker.py",
    ),
    "a failed poll fails the job": Mutant(
        FAILURE,
        "    run.update(\n        poll_error=",
        "    run.update(\n        state=JobState.FAILED, poll_error=",
        "proxyapi/polling/test_failed_polls.py",
    ),
    "Retry-After is not waited for": Mutant(
        FAILURE,
        "        return max(OUTAGE_BACKOFF.shortest, requested)\n",
        "        return OUTAGE_BACKOFF.shortest\n",
        "proxyapi/polling/test_failed_polls.py",
    ),
    "a young job that is not found is given up": Mutant(
        FAILURE,
        "    return job.started_at is not None and now - job.started_at > MAX_POLLING_AGE\n",
        "    return True\n",
        "proxyapi/polling/test_failed_polls.py",
    ),
}
BUDGETS: Mapping[str, Mutant] = {
    "what is used leaves the limit as it was": Mutant(
        CHARGING,
        "SpendingLimit(str(usage.budget.pk), usage.hard - usage.used)",
        "SpendingLimit(str(usage.budget.pk), usage.hard)",
        "dashboard/budgets/test_budget_usage.py",
    ),
    "what is held does not count": Mutant(
        USAGE,
        "        state__in=(*HOLDING_STATES, *CHARGED_STATES),\n",
        "        state__in=CHARGED_STATES,\n",
        "dashboard/budgets/test_budget_usage.py",
    ),
    "what was refunded counts": Mutant(
        USAGE,
        "        refunded_at=None,\n",
        "",
        "dashboard/budgets/test_budget_usage.py",
    ),
    "charges of other periods count": Mutant(
        USAGE,
        "        created_at__gte=span.start,\n",
        "",
        "dashboard/budgets/test_budget_usage.py",
    ),
    "a charge is not audited": Mutant(
        CHARGING,
        "        record_audit_event(by, AuditAction.CHARGE_CREATE, charge.pk, after=after)\n",
        "",
        "dashboard/budgets/test_budget_usage.py",
    ),
    "members decide their own requests": Mutant(
        "dashboard/budgets/actions/approvals.py",
        "    if approval.member_id == by.user_id:\n        raise Refusal(OWN_REQUEST)\n",
        "",
        "dashboard/budgets/test_second_person.py"
        "::test_nobody_decides_their_own_request_not_even_an_owner",
    ),
}
MUTANTS = {
    **CHARGES,
    **LEDGER,
    **VIEW_OF_API_SPEND,
    **LOST_CHARGES,
    **POLLING,
    **ACCESS,
    **BUDGETS,
}


def test_a_fault_in_what_the_portal_promises_turns_a_test_red(tmp_path: Path) -> None:
    report_mutants("mutants of the portal", MUTANTS, copy_sources(tmp_path / "reelroom"))
