"""Build the demo's past: replay it at the sandbox, store the portal's rows, and read the real
ledger.

Every amount comes from an answer of the sandbox or from its ledger, which the portal's own mirror
reads and matches; nothing of it is made up here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta, tzinfo
from typing import Any

from django.db import transaction
from django.utils import timezone

from dashboard.demo.history import account as past_account
from dashboard.demo.history import characters, ideas, labels, money, presets, scripts, voice
from dashboard.demo.history.account import PastAccount
from dashboard.demo.history.clips import clip_calls, store_clips
from dashboard.demo.history.plan import PAST_DAYS, PastVideo, plan_videos
from dashboard.demo.history.replay import ReplayAnswer, build_call, run_calls, video_calls
from dashboard.demo.history.rows import PastRows
from dashboard.demo.history.storyboards import store_storyboards, storyboard_calls
from dashboard.demo.sandbox_admin import SandboxAdmin
from dashboard.models import Membership, Team
from dashboard.studio.flows import FLOWS
from proxyapi import tokens
from proxyapi.ledger import api_view_sync, backfill, mirror_range
from proxyapi.ledger.balance_checkpoint import take_checkpoint
from proxyapi.ledger.entry_changes import rebuild_days_once
from proxyapi.ledger.matching import match_entries
from proxyapi.ledger.page_reader import LedgerReader
from proxyapi.models import Account, Token
from proxyapi.rate_limiter import Priority
from proxyapi.rollups.price_counts import rebuild_price_counts
from proxyapi.top_up import preference_sync

OPENING_TIME = time(7)
PERMIT_TIMEOUT_S = 8
PRESENT_MARGIN = timedelta(minutes=1)  # the past ends so long ago, whichever clock is ahead


@dataclass(frozen=True, slots=True)
class PastReplay:
    """The past as the sandbox has it."""

    account: PastAccount
    videos: Sequence[PastVideo]
    answers: dict[str, ReplayAnswer]
    now: datetime


def replay_past(
    sandbox: SandboxAdmin, fields: dict[str, Any], token_owners: Sequence[str], zone: tzinfo
) -> PastReplay:
    """Make the account and its sixty days at the sandbox, in two calls. Raises `OSError`.

    `token_owners` are the first names of the members with a token.
    """
    now = (timezone.now() - PRESENT_MARGIN).astimezone(zone)
    first_day = now.date() - timedelta(days=PAST_DAYS)
    opened_at = datetime.combine(first_day, OPENING_TIME, zone)
    account = past_account.open_past_account(sandbox, fields, opened_at, len(token_owners))
    videos = plan_videos(first_day, now, account.offered, FLOWS)
    token_of = dict(zip(token_owners, account.tokens, strict=True))
    account_id = account.account["account_id"]
    calls = list(past_account.account_calls(account, now))
    calls += ideas.search_calls(opened_at, token_of)
    for video in videos:
        calls += video_calls(video, token_of[video.member], account_id)
    calls += voice.voice_calls(opened_at, token_of[voice.MEMBER])
    calls += characters.character_calls(account, token_of)
    calls += clip_calls(now, token_of)
    calls += storyboard_calls(now, account.clip_engine_ids, token_of)
    calls.sort(key=lambda call: datetime.fromisoformat(call["at"]))
    money_path = f"/_sandbox/accounts/{account_id}/money"
    calls.append(build_call(now, "GET", money_path, name="money"))
    return PastReplay(account, videos, run_calls(sandbox, calls), now)


@transaction.atomic
def store_past(team: Team, past: PastReplay, stored: Sequence[Token]) -> None:
    """Store the portal's side of the past. `stored` are the members' tokens, which were added just
    now.

    Raises `RateLimitExhausted` or `UpstreamError`; then nothing is stored.
    """
    account, opened_at = stored[0].account, past.account.opened_at
    members = {row.user.first_name: row for row in team.memberships.select_related("user", "team")}
    token_of = {token.owner.first_name: token for token in stored}
    date_back(team, account, opened_at)
    tokens.refresh_account_profile(account)
    rows = PastRows(account, past.answers, members, token_of)
    for video in past.videos:
        rows.add_video(video)
    rows.save()
    ideas.store_searches(account, past.answers, members, token_of)
    store_clips(PastRows(account, past.answers, members, token_of))
    scripts.store_script(members, opened_at, past.now)
    engine_ids = past.account.clip_engine_ids
    store_storyboards(PastRows(account, past.answers, members, token_of), engine_ids)
    presets.save_presets(rows.jobs, members)
    voice.store_voice(account, past.answers, members, token_of)
    labels.create_labels(rows.jobs, members["Priya"], opened_at)
    people = PastRows(account, past.answers, members, token_of)
    characters.store_characters(people, past.account.character_genres, past.now)
    rebuild_price_counts(account)
    read_ledger(account, stored[-1])
    read_top_up(account, stored[-1])
    switched_on = past.answers["top-up on"].at
    money.store_top_up_change(account, stored[0], members["Thea"], switched_on)
    money.lower_balance_rules(team)
    budgets = money.create_budgets(team, members, switched_on)
    failed_at = past_account.top_up_failure_time(past.answers)
    alerts = money.find_past_alerts(team, account, budgets, failed_at)
    money.create_alerts(team, sorted(alerts, key=lambda alert: alert.at))
    money.create_answer_notifications(team)


def date_back(team: Team, account: Account, at: datetime) -> None:
    """The team, its people and its account are as old as the past."""
    type(team).objects.filter(pk=team.pk).update(created_at=at)
    Membership.objects.filter(team=team).update(
        joined_at=at, alerts_read_at=timezone.now() - timedelta(days=1)
    )
    Account.objects.filter(pk=account.pk).update(created_at=at)
    Token.objects.filter(account=account).update(created_at=at, state_since=at)


def read_ledger(account: Account, token: Token) -> None:
    """Mirror the whole ledger and match it, then take the checkpoint that both sides must agree on.

    Nothing is matched before everything is read: how certain a match is would depend on which rows
    the ledger's last page happens to have.
    """
    source = LedgerReader(account, token, Priority.PERSON, PERMIT_TIMEOUT_S)
    with rebuild_days_once(account):
        backfill.catch_up_to_end(source)
        backfill.backfill_older_rows(source, mirror_range.get_or_create_ledger(account))
        api_view_sync.sync_api_view(source)
        match_entries(account)
    take_checkpoint(account, Priority.PERSON, PERMIT_TIMEOUT_S)


def read_top_up(account: Account, token: Token) -> None:
    reading = preference_sync.fetch_preference(token, Priority.PERSON, PERMIT_TIMEOUT_S)
    preference_sync.store_preference(account, *reading)
