"""`credits.extra` of the service: part of `remaining`, or a second purse, as the ledger shows."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.utils import timezone

from dashboard.shared.ledger_agreement import check_ledger_agreement
from proxyapi import ledger
from proxyapi.charges.admission import check_hold_fits
from proxyapi.models import Account
from proxyapi.refusals import NotEnoughCredits
from tests.proxyapi.ledger.conftest import ScriptedLedger, ledger_row
from tests.proxyapi.scripted_upstream import ScriptedUpstream, make_response
from tests.reconciliation import build_reconciliation

pytestmark = pytest.mark.postgresql


def compare(account: Account, upstream: ScriptedUpstream, remaining: int, extra: int) -> Account:
    """A comparison of rows and balance while the service shows these purses."""
    purses = {"remaining": remaining, "total": 1000, "extra": extra}
    upstream.respond("GET", "/me", make_response({"id": 7, "credits": purses}))
    ledger.mirror_entries(account)
    assert ledger.take_checkpoint(account)
    account.refresh_from_db()
    return account


def test_a_purse_counts_once_the_entries_only_add_up_with_it(
    account: Account, scripted_ledger: ScriptedLedger, upstream: ScriptedUpstream
) -> None:
    """600 came in, and 480 remain with 120 beside them."""
    scripted_ledger.add_row(ledger_row("+600"))
    compare(account, upstream, 480, 120)
    assert (account.has_separate_extra, account.balance) == (True, 600)
    kept = build_reconciliation(account)
    assert (kept.opening_balance, kept.difference) == (0, 0)


def test_a_purse_below_nothing_teaches_nothing(
    account: Account, scripted_ledger: ScriptedLedger, upstream: ScriptedUpstream
) -> None:
    """An answer that may lie: with the other purse it would add up, and be called a match."""
    scripted_ledger.add_row(ledger_row("+13"))
    compare(account, upstream, -5, 250)
    assert account.has_separate_extra is None
    agreement = check_ledger_agreement([account])
    assert agreement is not None
    assert agreement.state == "unknown"


@pytest.mark.parametrize("beside", [True, False])
def test_a_purse_that_moves_with_the_entries_shows_how_it_counts(
    beside: bool, account: Account, scripted_ledger: ScriptedLedger, upstream: ScriptedUpstream,
    settings,
) -> None:  # fmt: skip
    """13 of 5 and 120: the second purse pays what the first cannot, or is a part of it."""
    settings.EXTRA_CREDITS = "included" if beside else "beside"
    scripted_ledger.add_row(ledger_row("-1"))
    compare(account, upstream, 5 if beside else 125, 120)
    assert account.has_separate_extra is None
    scripted_ledger.add_row(ledger_row("-13", 2))
    compare(account, upstream, 0 if beside else 112, 112)
    assert (account.has_separate_extra, account.balance) == (beside, 112)
    assert build_reconciliation(account).difference == 0
    scripted_ledger.add_row(ledger_row("-12", 3))
    compare(account, upstream, 0 if beside else 100, 100)
    assert (account.balance, build_reconciliation(account).difference) == (100, 0)


def test_until_then_a_refusal_names_it_and_the_setting_decides(account: Account, settings) -> None:
    profile = {"credits": {"remaining": 5, "extra": 120}}
    account.save_profile(profile, timezone.now())
    with pytest.raises(NotEnoughCredits, match="also shows 120 extra credits"):
        check_hold_fits(account, Decimal(13))
    with pytest.raises(NotEnoughCredits) as refused:
        check_hold_fits(account, Decimal(130))
    assert "extra" not in str(refused.value)
    settings.EXTRA_CREDITS = "beside"
    account.save_profile(profile, timezone.now())
    check_hold_fits(account, Decimal(125))
    account.update_reported_balance(Decimal(0), timezone.now())  # the first purse alone
    assert account.balance == 125
