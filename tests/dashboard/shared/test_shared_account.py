"""What a team sees of another one that uses the same account at the service: how many credits it
holds, and which debits are another team's. Nothing else."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.utils import timezone

from dashboard.alerts.evaluate import evaluate_team
from dashboard.models import AlertEvent, AlertKind, AlertRule
from dashboard.overview.queries.attention import find_attention_items
from dashboard.shared.team_balance import load_balance_and_counts
from proxyapi.models import Charge, ChargeState, LedgerEntry
from tests.dashboard.overview.conftest import account, add_entry, ago, ledger, make_charge, token
from tests.factories import (
    ChargeFactory,
    JobFactory,
    TokenFactory,
    UserFactory,
    create_account_of_another_team,
)

__all__ = ["account", "add_entry", "ledger", "make_charge", "token"]
SECRETS = ("Rosalind", "Their secret film", "somebody@")


@pytest.fixture
def other_teams_charge(token):
    """A job of another team on the same account at the service, and its charge that is held."""
    person = UserFactory.create(name="Rosalind Roe", email="somebody@elsewhere.example")
    row = create_account_of_another_team(token.account)
    own = TokenFactory.create(account=row, owner=person)
    job = JobFactory.create(account=row, token=own, title="Their secret film", remote_id="77")
    return ChargeFactory.create(job=job, hold=Decimal(12))


@pytest.fixture
def their_debit(other_teams_charge, add_entry):
    """A row of the team's own mirror that a charge of the other team has in its mirror."""
    entry = add_entry(-96, ago(minutes=5), label="Faceless video", via_api=True)
    Charge.objects.filter(pk=other_teams_charge.pk).update(
        state=ChargeState.CONFIRMED, cost=96, sent_at=ago(minutes=6), booked_at=entry.happened_at
    )
    LedgerEntry.objects.create(
        account=other_teams_charge.account, charge=other_teams_charge,
        position=entry.position, amount=entry.amount,
        credit_spend="-96", booked_at=entry.booked_at, happened_at=entry.happened_at,
        confidence="certain", member=other_teams_charge.member, job=other_teams_charge.job,
        operation="faceless.render",
    )  # fmt: skip
    return entry


def test_the_team_balance_subtracts_what_another_team_holds_and_says_so(other_teams_charge, token):
    team_balance = load_balance_and_counts(token.tenant)[0]
    assert (team_balance.balance, team_balance.held, team_balance.free) == (4318, 0, 4306)
    assert team_balance.note == "Nothing held, 12 held by another team"
    assert team_balance.sentence == "4,306 free and 12 held of 12,000"


@pytest.mark.parametrize("path", ["/", "/forecast/"])
def test_the_pages_say_how_much_another_team_holds_and_nothing_else(
    path, other_teams_charge, ledger, client_of, vera
):
    html = client_of(vera).get(path).content.decode()
    assert "another team that uses this account" in html
    assert not [word for word in SECRETS if word in html]


def test_a_low_balance_counts_what_another_team_holds(other_teams_charge, northlight):
    AlertRule.objects.filter(team=northlight).delete()
    AlertRule.objects.create(team=northlight, kind=AlertKind.BALANCE, threshold=4310)
    evaluate_team(northlight.pk)
    assert AlertEvent.objects.get().title == "4,306 cr are free, less than 4,310"


def test_a_debit_of_another_team_is_named_so_and_raises_no_alert(their_debit, client_of, thea):
    for path in ("/ledger/", f"/ledger/{their_debit.account_id}/{their_debit.position}/"):
        html = client_of(thea).get(path).content.decode()
        assert "Another team of this portal" in html
        assert not [word for word in SECRETS if word in html]


def test_a_debit_of_another_team_is_no_spend_outside_the_portal_that_waits_for_a_person(
    their_debit, add_entry, northlight, account
):
    now = timezone.now()
    assert find_attention_items(northlight, [account.pk], ago(days=20), now) == []
    add_entry(-5)
    (item,) = find_attention_items(northlight, [account.pk], ago(days=20), now)
    assert item.title == "5 cr spent outside the portal"


def test_a_debit_of_another_team_is_not_offered_for_a_lost_charge(
    their_debit, make_charge, client_of, thea
):
    lost = make_charge(state="unknown", sent_at=ago(minutes=6))
    html = client_of(thea).get(f"/reconciliation/charges/{lost.pk}/matches/").content.decode()
    assert "No unmatched debit was recorded" in html
