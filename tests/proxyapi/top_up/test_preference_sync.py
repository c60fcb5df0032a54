"""Reading the preference: what it teaches, what a failed reading leaves alone, what drifted."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.utils import timezone

from proxyapi import top_up
from proxyapi.events import EventType
from proxyapi.models import (
    Account,
    AccountPlan,
    AutoTopUp,
    Token,
    TokenState,
    TopUpChange,
    TopUpChangeState,
)
from proxyapi.top_up import PreferenceReading, TopUpSetting, preference_sync
from proxyapi.top_up.change_dispatch import pick_account_token
from tests.factories import TokenFactory
from tests.proxyapi.scripted_upstream import ScriptedUpstream, error_response, make_response
from tests.proxyapi.top_up.conftest import MORE, OFF, ON, PATH, preference

pytestmark = pytest.mark.postgresql


@pytest.fixture
def announcements(monkeypatch: pytest.MonkeyPatch) -> list[EventType]:
    """What was announced."""
    events: list[EventType] = []
    monkeypatch.setattr(
        preference_sync, "publish_event", lambda tenant, event, id: events.append(event)
    )
    return events


def read(account: Account, upstream: ScriptedUpstream, *answers: Any) -> AutoTopUp:
    """Each answer in turn, each due."""
    for one in answers:
        upstream.respond("GET", PATH, one)
        AutoTopUp.objects.filter(account=account).update(due_at=timezone.now())
        top_up.refresh_preference(Account.objects.get(pk=account.pk))
    return AutoTopUp.objects.get(account=account)


def test_a_reading_is_kept_and_announced_once(
    account: Account, token: Token, upstream: ScriptedUpstream, announcements: list[EventType]
) -> None:
    row = read(
        account,
        upstream,
        make_response(preference(failures=1)),
        make_response(preference(failures=1)),
    )
    assert TopUpSetting.from_row(row) == ON
    assert (row.consecutive_failures, row.read_error) == (1, "")
    assert row.read_at is not None and row.enabled_at is not None
    assert announcements == [EventType.TOP_UP]


def test_it_is_read_every_few_minutes_and_not_twice_for_two_task_messages(
    account: Account, token: Token, upstream: ScriptedUpstream
) -> None:
    assert top_up.accounts_due_for_preference_read(timezone.now()) == [account.pk]
    top_up.refresh_preference(account)
    top_up.refresh_preference(account)
    assert len(upstream.requests) == 1
    assert top_up.accounts_due_for_preference_read(timezone.now()) == []
    assert top_up.accounts_due_for_preference_read(
        timezone.now() + preference_sync.PREFERENCE_READ_INTERVAL
    ) == [account.pk]


def test_it_was_on_and_now_it_is_off_is_seen_and_announced(
    account: Account, token: Token, upstream: ScriptedUpstream, announcements: list[EventType]
) -> None:
    on, off = make_response(preference(ON)), make_response(preference(OFF, failures=3))
    row = read(account, upstream, on, off)
    assert row.is_disabled_elsewhere
    assert row.found_off_at == row.read_at
    assert announcements == [EventType.TOP_UP] * 2
    assert not read(account, upstream, on).is_disabled_elsewhere


def test_off_from_the_first_reading_is_no_drift(
    account: Account, token: Token, upstream: ScriptedUpstream
) -> None:
    assert not read(
        account, upstream, make_response(preference(OFF)), make_response(preference(OFF))
    ).is_disabled_elsewhere


def test_a_failure_is_dated_by_the_reading_that_first_saw_it(
    account: Account, token: Token, upstream: ScriptedUpstream
) -> None:
    """pitfall_81: the record has no time of it. One that was there before has none here either."""
    assert read(account, upstream, make_response(preference(failures=1))).failure_seen_at is None
    row = read(account, upstream, make_response(preference(failures=2)))
    assert row.failure_seen_at == row.read_at
    again = read(account, upstream, make_response(preference(failures=2)))
    assert again.failure_seen_at == row.failure_seen_at


def test_a_late_answer_undoes_nothing_newer(account: Account) -> None:
    now = timezone.now()
    preference_sync.store_preference(account, PreferenceReading(ON, None, 0), now)
    preference_sync.store_preference(
        account, PreferenceReading(OFF, None, 0), now - timedelta(seconds=1)
    )
    assert AutoTopUp.objects.get(account=account).enabled


def test_a_reading_that_overtook_our_own_change_does_not_call_it_somebody_elses(
    account: Account, announcements: list[EventType]
) -> None:
    now = timezone.now()
    preference_sync.store_preference(account, PreferenceReading(ON, None, 0), now)
    preference_sync.store_preference(
        account, PreferenceReading(OFF, None, 1), now + timedelta(seconds=2)
    )
    row = preference_sync.store_preference(
        account, PreferenceReading(OFF, None, 0), now + timedelta(seconds=1), is_own_change=True
    )
    assert (row.is_disabled_elsewhere, row.left_enabled) == (False, False)
    assert row.left_at == now + timedelta(seconds=1)
    assert row.consecutive_failures == 1  # of the newer reading
    assert announcements == [EventType.TOP_UP] * 3


def test_switched_on_here_and_found_off_since_is_not_our_change(account: Account) -> None:
    now = timezone.now()
    preference_sync.store_preference(account, PreferenceReading(ON, None, 0), now)
    preference_sync.store_preference(
        account, PreferenceReading(OFF, None, 0), now + timedelta(seconds=2)
    )
    row = preference_sync.store_preference(
        account, PreferenceReading(MORE, None, 0), now + timedelta(seconds=1), is_own_change=True
    )
    assert (row.is_disabled_elsewhere, row.left_enabled) == (True, True)


def test_nobody_reads_beside_a_change_that_is_on_its_way(
    account: Account, requested_change: Callable[..., TopUpChange], upstream: ScriptedUpstream
) -> None:
    change = requested_change(OFF)
    top_up.refresh_preference(account)
    assert upstream.requests == []
    TopUpChange.objects.transition(change, TopUpChangeState.REFUSED)
    top_up.refresh_preference(account)
    assert len(upstream.requests) == 1


@pytest.mark.parametrize(
    ("failure", "sentence"),
    [
        (error_response(409, "SOME-CODE"), "e-mail address is not verified"),
        (error_response(403, "PAID-SUBSCRIPTION-REQUIRED"), "paid plans only, not on trials"),
        (error_response(403, "SUBSCRIPTION-REQUIRED"), "no active plan"),
        (make_response("what?"), "was lost. Nothing was charged."),
        (make_response({"enabled": "yes"}), "was lost. Nothing was charged."),
        (httpx.ReadTimeout, "response was lost"),
    ],
)
def test_a_failed_reading_changes_nothing_but_its_reason(
    failure: Any, sentence: str, account: Account, token: Token, upstream: ScriptedUpstream
) -> None:
    row = read(account, upstream, make_response(preference(ON)), failure)
    assert TopUpSetting.from_row(row) == ON
    assert sentence in row.read_error
    assert not row.is_disabled_elsewhere


@pytest.mark.parametrize("plan", [AccountPlan.TRIAL, AccountPlan.NONE])
def test_pitfall_80_without_a_paid_plan_nobody_asks_and_the_row_says_why(
    plan: AccountPlan, account: Account, token: Token, upstream: ScriptedUpstream
) -> None:
    Account.objects.filter(pk=account.pk).update(plan=plan)
    row = read(account, upstream, make_response(preference()))
    assert upstream.requests == []
    assert "plan" in row.read_error and row.read_at is None


def test_an_account_that_no_token_opens_any_more_is_not_asked(
    account: Account, token: Token, upstream: ScriptedUpstream
) -> None:
    Token.objects.update(state=TokenState.REVOKED)
    assert top_up.accounts_due_for_preference_read(timezone.now()) == []
    assert (
        "no longer has a working token"
        in read(account, upstream, make_response(preference())).read_error
    )


def test_a_token_that_does_not_open_leaves_the_reading_to_another_members(
    account: Account, token: Token, upstream: ScriptedUpstream
) -> None:
    Token.objects.update(ciphertext=b"not ours")
    TokenFactory.create(account=account)
    row = read(account, upstream, make_response(preference()))
    assert (TopUpSetting.from_row(row), row.read_error) == (ON, "")


@pytest.mark.parametrize(("failures", "is_new"), [(3, True), (1, True), (2, False), (0, False)])
def test_a_count_that_fell_is_a_failure_since_the_last_reading_too(
    account: Account, failures: int, is_new: bool
) -> None:
    """A top-up that went off begins the count anew: of 2, then 1, the 1 is new."""
    now = timezone.now()
    earlier = now - timedelta(days=2)
    AutoTopUp.objects.create(
        account=account, consecutive_failures=2, failure_seen_at=earlier, read_at=earlier
    )
    row = preference_sync.store_preference(
        account, preference_sync.PreferenceReading(ON, None, failures), now
    )
    assert row.failure_seen_at == (now if is_new else earlier)


def test_a_token_that_does_not_open_leaves_the_saving_to_another_members(
    account: Account, token: Token
) -> None:
    Token.objects.update(ciphertext=b"not ours")
    other = TokenFactory.create(account=account)
    assert pick_account_token(account, token.owner_id) == other
    assert pick_account_token(account, other.owner_id) == other
