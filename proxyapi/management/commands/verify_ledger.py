"""`manage.py verify_ledger`: do balance, ledger and charges of every account agree to the credit?

    Δ balance = Σ rows = Σ charges + the explained rest

Every sum is computed from the rows themselves, not from the sums that pages use; those are checked
against them. Exit status 1 on any difference, and if an account could not be checked.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from proxyapi import ledger
from proxyapi.ledger import audit, recheck_old_pages
from proxyapi.ledger.page_reader import open_ledger_reader
from proxyapi.models import Account
from proxyapi.rate_limiter import Priority, RateLimitExhausted
from proxyapi.upstream import errors

# Seconds to wait for a permit: no page waits, and the audit must not be cut short
PERMIT_TIMEOUT_S = 90.0


class Command(BaseCommand):
    help = (
        "Reads every account's ledger to its end, takes a balance checkpoint, and compares both "
        "with the charges. Exit status 1 if anything differs."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--account", help="only this account, by its id here or upstream")
        parser.add_argument(
            "--reread",
            action="store_true",
            help="read every row from the service again and compare",
        )
        parser.add_argument(
            "--offline", action="store_true", help="send no request; check only what is stored"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        wrong = 0
        for account in select_accounts(options["account"]):
            self.stdout.write(f"Account {account.upstream_id} ({account.email})")
            problems = (
                []
                if options["offline"]
                else sync_account_for_audit(account, reread=options["reread"])
            )
            # What came between two of its questions is no difference: asked again, it agrees.
            result = audit.audit_account(account)
            if result.problems:
                result = audit.audit_account(account)
            for name, amount in result.lines:
                self.stdout.write(f"  {name:<44}{format_audit_amount(amount):>14}")
            problems += result.problems
            for problem in problems:
                self.stdout.write(f"  DIFFERS: {problem}")
            self.stdout.write("  Differences found." if problems else "  No differences.")
            wrong += bool(problems)
        if wrong:
            raise CommandError(f"{wrong} accounts have differences.", returncode=1)


def select_accounts(account_id: str | None) -> list[Account]:
    accounts = Account.objects.order_by("created_at")
    if account_id is None:
        return list(accounts)
    selected = [
        account for account in accounts if account_id in (str(account.pk), str(account.upstream_id))
    ]
    if not selected:
        raise CommandError(f"There is no account {account_id}.")
    return selected


def sync_account_for_audit(account: Account, *, reread: bool) -> list[str]:
    """Bring the mirror and the exact balance up to date; return the reason for people if that
    failed."""
    source = open_ledger_reader(account, Priority.LEDGER_SYNC, PERMIT_TIMEOUT_S)
    if source is None and account.pause_reason:
        return [account.pause_reason]
    if source is None:
        return ["No working token is left for this account, so nothing could be read."]
    try:
        ledger.mirror_entries(account, patience=PERMIT_TIMEOUT_S)
        if reread:
            recheck_old_pages.recheck_all_pages(source)
        has_checkpoint = any(
            ledger.take_checkpoint(account, patience=PERMIT_TIMEOUT_S) for _ in range(3)
        )
        ledger.match_entries(account)
    except (errors.UpstreamError, RateLimitExhausted) as error:
        return [f"The account could not be read: {error.user_message}"]
    return (
        []
        if has_checkpoint
        else ["No balance checkpoint could be taken, because new rows kept arriving."]
    )


def format_audit_amount(amount: Decimal | int | None) -> str:
    if amount is None:
        return "not known"
    return f"{amount}" if isinstance(amount, int) else f"{amount.normalize():f}"
