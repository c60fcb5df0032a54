"""The seeding command: it says what it does, and runs only where made-up ledgers are allowed."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from dashboard.models import Team
from proxyapi.models import Charge, Job, LedgerEntry, Token, TokenState

pytestmark = pytest.mark.postgresql

SMALL = {"entries": 300, "members": 20, "jobs": 40, "days": 30}


@pytest.mark.django_db
def test_it_names_what_it_adds_and_touches_no_other_team(mira):
    said = StringIO()
    call_command("seed_large_team", **SMALL, owner=mira.user.email, stdout=said)
    assert "Adding the team Archive with 300 ledger rows, 40 jobs and 20 members" in said.getvalue()
    team = Team.objects.get(name="Archive")
    assert team.memberships.count() == 20
    assert team.memberships.get(user=mira.user).role == "owner"
    assert LedgerEntry.objects.filter(account__tenant=team.tenant).count() == 300
    assert Job.objects.filter(tenant=team.tenant).count() == 40
    debits = LedgerEntry.objects.filter(charge__isnull=False, amount__lt=0)
    assert Charge.objects.filter(tenant=team.tenant).count() == debits.count() > 200
    assert mira.team.memberships.count() == 1


@pytest.mark.django_db
def test_nothing_is_ever_sent_for_it(mira):
    call_command("seed_large_team", **SMALL, owner=mira.user.email, stdout=StringIO())
    assert set(Token.objects.values_list("state")) == {(TokenState.REMOVED,)}


@pytest.mark.django_db
def test_it_refuses_where_the_ledger_is_real(settings):
    settings.VIDEO_API_IS_SANDBOX = False
    with pytest.raises(CommandError, match="only with the sandbox"):
        call_command("seed_large_team", **SMALL)
    assert not Team.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize("wrong", [{"owner": "nobody@northlight.example"}, {"entries": 0}])
def test_it_refuses_what_it_cannot_do(wrong):
    with pytest.raises(CommandError):
        call_command("seed_large_team", **{**SMALL, **wrong}, stdout=StringIO())
    assert not Team.objects.exists()


@pytest.mark.django_db
def test_its_ledger_reconciles_to_the_last_credit(mira):
    call_command("seed_large_team", **SMALL, owner=mira.user.email, stdout=StringIO())
    call_command("verify_ledger", offline=True, stdout=StringIO())
