"""What holds the money together, taken out piece by piece in a copy: tests turn red."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.drills.mutation import Mutant, copy_sources, report_mutants

MUTANTS: Mapping[str, Mutant] = {
    "no intent row is kept": Mutant(
        "proxyapi/charges/admission.py",
        "    charge = Charge.objects.create(\n",
        "    charge = Charge(\n",
        "test_admission.py",
    ),
    "a nonce may stand twice": Mutant(
        "proxyapi/models/charge.py",
        'models.UniqueConstraint(fields=["tenant", "nonce"], name="charge_once_per_nonce"),',
        "",
        "test_admission.py",
    ),
    "a form that comes again is another deed": Mutant(
        "proxyapi/charges/admission.py",
        "    if existing := find_charge_of_intent(intent):\n"
        "        return Admission(existing, is_new=False)\n",
        "",
        "test_admission.py",
    ),
    "two open charges of a job": Mutant(
        "proxyapi/charges/admission.py",
        "    if in_progress.exists():\n",
        "    if False:\n",
        "test_admission.py",
    ),
    "the database takes two open charges": Mutant(
        "proxyapi/models/charge.py",
        'state__in=["draft", "held", "sending", "unknown"], applied_at__isnull=True\n',
        'state="nothing"\n',
        "test_admission.py",
    ),
    "nobody looks at the balance": Mutant(
        "proxyapi/charges/admission.py",
        "    if not (check.fits or (beyond_balance and check.is_beyond_balance)):",
        "    if check.hold > 10**9:",
        "test_admission.py test_consent.py",
    ),
    "a claim without a condition": Mutant(
        "proxyapi/models/charge.py",
        "self.filter(pk=charge.pk, state=charge.state).update(",
        "self.filter(pk=charge.pk).update(",
        "test_admission.py test_dispatch.py",
    ),
    "a lost answer is sent again": Mutant(
        "proxyapi/charges/dispatch.py",
        "        transitions.mark_unknown(charge, error, sentence)\n",
        "        requeue_unsent(charge, error)\n",
        "test_dispatch.py",
    ),
    "a lost answer is a failure": Mutant(
        "proxyapi/charges/dispatch.py",
        "        transitions.mark_unknown(charge, error, sentence)\n",
        "        transitions.mark_refused(charge, error)\n",
        "test_dispatch.py",
    ),
    "nothing is read back": Mutant(
        "proxyapi/charges/reconcile.py",
        "        read_back_charge(charge)\n",
        "        pass\n",
        "test_reconcile.py test_reconcile_by_debit.py",
    ),
    "the resource is not looked at": Mutant(
        "proxyapi/kinds/declaration.py",
        '        return bool(status) and status != before["status"]',
        "        return False",
        "test_reconcile.py test_reconcile_by_debit.py test_job_effects.py",
    ),
    "a script proves nothing": Mutant(
        "proxyapi/kinds/faceless.py",
        '            return bool(script) and script_digest(script) != before.get("script")',
        "            return False",
        "test_reconcile.py test_reconcile_by_debit.py test_kept_responses.py test_job_effects.py",
    ),
    "no trace is enough at once": Mutant(
        "proxyapi/charges/reconcile.py",
        "    is_grace_over = coverage.read_at >= answer_lost_at(charge) + timeouts.booking_grace()",
        "    is_grace_over = True",
        "test_reconcile.py test_reconcile_by_debit.py",
    ),
    "a request that may be on its way is not waited for": Mutant(
        "proxyapi/charges/timeouts.py",
        "    return max(now, (charge.sent_at or now) + timedelta(seconds=in_flight))",
        "    return now",
        "test_timeouts.py",
    ),
    "what a living sender waits for is called uncharged": Mutant(
        "proxyapi/charges/reconcile.py",
        "    return last is not None and last + timeouts.heartbeat_timeout() > timezone.now()",
        "    return False",
        "test_reconcile.py test_reconcile_by_debit.py",
    ),
    "a late debit stays outside the portal": Mutant(
        "proxyapi/charges/late_debits.py",
        "    ledger.link_late_debit(charge, debit)\n",
        "",
        "test_late_debits.py",
    ),
    "a debit that the video contradicts is taken": Mutant(
        "proxyapi/charges/late_debits.py",
        "    if not (is_done or record is None or charge.is_proved_by_debit):\n        return\n",
        "",
        "test_late_debits.py",
    ),
    "an effect comes twice": Mutant(
        "proxyapi/charges/job_effects.py",
        "    if not unapplied.update(applied_at=now, unidentified_at=None, result=result):",
        "    if unapplied.update(applied_at=now, unidentified_at=None, result=result) < 0:",
        "test_job_effects.py",
    ),
    "a job that changed is sent": Mutant(
        "proxyapi/charges/admission.py",
        "    check_job_unchanged(job, intent)\n",
        "",
        "test_admission.py",
    ),
    "a clip without an id counts": Mutant(
        "proxyapi/charges/job_effects.py",
        "        return bool(evidence.created_resource_id(charge, record))\n",
        "        return True\n",
        "test_kinds.py",
    ),
    "a dead sender is never found": Mutant(
        "proxyapi/charges/dispatch.py",
        "    return last + timeouts.heartbeat_timeout() <= timezone.now()",
        "    return False",
        "test_quarantine.py",
    ),
    "a refusal keeps the hold": Mutant(
        "proxyapi/charges/transitions.py",
        "        ChargeState.REFUSED,\n        status=",
        "        ChargeState.HELD,\n        status=",
        "test_dispatch.py",
    ),
    "an old charge is sent after hours": Mutant(
        "proxyapi/charges/transitions.py",
        "GIVE_UP_AFTER = timedelta(minutes=15)",
        "GIVE_UP_AFTER = timedelta(days=15)",
        "test_dispatch.py test_kept_responses.py",
    ),
    "a debit settles two charges": Mutant(
        "proxyapi/ledger/lost_charge_lookup.py",
        "Entry.objects.without_charge().filter(account_id=charge.account_id, amount__lt=0)",
        "Entry.objects.filter(account_id=charge.account_id, amount__lt=0)",
        "test_reconcile.py test_reconcile_by_debit.py test_job_effects.py",
    ),
    "a restored database sends again": Mutant(
        "proxyapi/charges/dispatch.py",
        "        if recovery.recover_if_restored():\n",
        "        if False:\n",
        "test_recovery.py",
    ),
    "the same attempt is sent twice": Mutant(
        "proxyapi/charges/dispatch.py",
        "            if not log_records.log_charge_request(charge):\n",
        "            if log_records.log_charge_request(charge) is None:\n",
        "test_recovery.py",
    ),
}


def test_what_holds_the_money_together_is_missed_when_it_is_gone(tmp_path: Path) -> None:
    report_mutants("mutants of the charging code", MUTANTS, copy_sources(tmp_path / "reelroom"))
