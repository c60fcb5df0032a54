"""What surrounds every page: the team's balance and the counts."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from django.conf import settings
from django.template.loader import render_to_string
from django.test import Client
from django.urls import get_resolver
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from dashboard.models import Membership
from dashboard.shared.charge_stop import build_charge_stop_notice
from dashboard.shared.service_status import load_service_availability
from dashboard.shared.shell import build_app_shell
from dashboard.shared.team_balance import (
    TeamBalance,
    load_balance_and_counts,
    plan_renewal_text,
)
from proxyapi.models import Account, ChargeState, JobState, Token, TokenState
from tests.factories import AccountFactory, ChargeFactory, JobFactory, TokenFactory

ClientOf = Callable[[Membership], Client]


@pytest.fixture
def token(priya: Membership) -> Token:
    account = AccountFactory.create(
        tenant=priya.team.tenant, balance=Decimal(4318), monthly_credits=Decimal(12000)
    )
    return TokenFactory.create(account=account, owner=priya.user)


def test_a_long_name_of_a_team_is_whole_in_its_title(mira: Membership, client_of: ClientOf) -> None:
    mira.team.name = "Northlight " * 5
    mira.team.save()
    html = client_of(mira).get("/library/").content.decode()
    assert f'<span class="team__name" title="{mira.team.name}">' in html


def test_the_team_balance_is_the_balance_less_what_open_charges_hold(token: Token) -> None:
    ChargeFactory.create(
        job=JobFactory.create(account=token.account, token=token), hold=Decimal(106)
    )
    team_balance = load_balance_and_counts(token.tenant)[0]
    assert (team_balance.balance, team_balance.held, team_balance.free) == (
        Decimal(4318),
        Decimal(106),
        Decimal(4212),
    )
    assert team_balance.sentence == "4,212 free and 106 held of 12,000"
    assert team_balance.note == "106 held"


def test_two_accounts_are_one_team_balance(token: Token) -> None:
    other = AccountFactory.create(
        tenant=token.tenant, balance=Decimal(100), monthly_credits=Decimal(500)
    )
    TokenFactory.create(account=other, owner=token.owner)
    assert load_balance_and_counts(token.tenant)[0].balance == Decimal(4418)


def test_an_account_that_no_token_opens_is_not_spent_from(token: Token) -> None:
    token.state = TokenState.REMOVED
    token.save()
    balance = load_balance_and_counts(token.tenant)[0]
    assert (balance.free, balance.not_spendable) == (0, ("no working token",))


@pytest.mark.parametrize(
    ("balance", "held", "free_percent", "held_percent"),
    [
        (12000, 0, "100.00", "0.00"),
        (15000, 0, "100.00", "0.00"),  # beyond the month's credits
        (6000, 1200, "40.00", "10.00"),
        (600, 1200, "0.00", "5.00"),
        (0, 0, "0.00", "0.00"),
    ],
)
def test_the_bar_is_what_is_free_and_then_what_is_held(
    balance: int, held: int, free_percent: str, held_percent: str
) -> None:
    team_balance = TeamBalance(
        known=True, balance=Decimal(balance), held=Decimal(held), monthly=Decimal(12000)
    )
    assert (team_balance.free_percent, team_balance.held_percent) == (free_percent, held_percent)
    bar = render_to_string("components/team_balance.html", {"team_balance": team_balance})
    assert f'class="meter__free" width="{free_percent}%"' in bar
    assert f'class="hatch" x="{free_percent}%" width="{held_percent}%"' in bar


def test_a_balance_that_is_old_says_when_it_was_read(token: Token) -> None:
    Account.objects.update(balance_as_of=timezone.now() - timedelta(hours=1))
    assert ", as of " in load_balance_and_counts(token.tenant)[0].note


@pytest.mark.parametrize(
    ("days", "words"),
    [(11, "renews in 11 days"), (1, "renews tomorrow"), (0, "renews today")],
)
def test_the_renewal_is_said_in_days(days: int, words: str) -> None:
    assert plan_renewal_text(timezone.now() + timedelta(days=days)) == words


def test_a_plan_that_ended_says_when() -> None:
    assert plan_renewal_text(timezone.now() - timedelta(days=3)).startswith("the plan ended ")


def test_what_moves_and_what_is_unknown_is_counted(token: Token) -> None:
    now = timezone.now()
    for number in range(3):
        JobFactory.create(
            account=token.account,
            token=token,
            remote_id=str(number),
            state=JobState.RUNNING,
            next_poll_at=now,
        )
    JobFactory.create(
        account=token.account,
        token=token,
        remote_id="x",
        state=JobState.RUNNING,
        next_poll_at=now,
        hidden_at=now,
    )
    job = JobFactory.create(account=token.account, token=token)
    ChargeFactory.create(job=job, state=ChargeState.UNKNOWN, sent_at=now)
    counts = load_balance_and_counts(token.tenant)[1]
    assert (counts.running, counts.unknown) == (3, 1)


def test_the_shell_takes_six_queries(
    token: Token, priya: Membership, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(6):
        build_app_shell(priya)


def test_another_teams_credits_are_not_in_the_team_balance(token: Token, otto: Membership) -> None:
    assert not build_app_shell(otto).team_balance.known


def test_what_is_pushed_holds_nothing_of_the_reader(token: Token) -> None:
    counts = load_balance_and_counts(token.tenant)[1]
    shown = {
        "team_balance": load_balance_and_counts(token.tenant)[0],
        "counts": counts,
        "service": load_service_availability(token.tenant),
        "charge_stop": build_charge_stop_notice(token.tenant),
    }
    news = render_to_string("components/shell_updates.html", shown)
    names = ("team-balance", "team-balance-short", "nav-running", "nav-unknown", "service")
    for name in (*names, "charge-stop"):
        assert f'id="{name}"' in news
    assert news.count('hx-swap-oob="true"') == 6
    assert "requests left" not in news


def test_who_may_not_render_is_not_led_to_the_studio(priya: Membership, vera: Membership) -> None:
    assert build_app_shell(priya).may_render
    assert not build_app_shell(vera).may_render


def test_the_navigation_names_pages_that_exist() -> None:
    """An unknown name marks no entry as current and raises nothing."""
    text = Path(settings.BASE_DIR, "templates/components/nav_groups.html").read_text()
    named = " ".join(re.findall(r'(?:also|name)="([a-z -]+)"', text)).split()
    assert named
    assert set(named) <= set(get_resolver().reverse_dict)
