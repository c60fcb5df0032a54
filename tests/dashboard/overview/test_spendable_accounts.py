"""Credits that nobody can spend: told apart everywhere, and part of no sum."""

from __future__ import annotations

from decimal import Decimal

from django.utils import timezone

from dashboard.alerts.kinds.low_balance import find_low_balances
from dashboard.models import AlertRule
from dashboard.shared.team_balance import load_balance_and_counts
from proxyapi.models import Account, AccountPlan, TokenState
from tests.dashboard.overview.conftest import video
from tests.factories import TokenFactory

UNSPENDABLE: dict[str, dict[str, object]] = {
    "no working token": {"state": TokenState.REVOKED},
    "of another address of the service": {"account__environment": "https://other.example/v2"},
    "no paid plan": {"account__plan": AccountPlan.NONE},
    "trial": {"account__plan": AccountPlan.TRIAL},
    "e-mail address not verified": {"account__email_verified": False},
}


def test_credits_that_nobody_can_spend_are_listed_apart_and_counted_nowhere(
    client_of, vera, token, add_entry, northlight, priya, make_charge
):
    add_entry(-96)
    for obstacle, fields in UNSPENDABLE.items():
        given = {"account__tenant": northlight.tenant, "account__name": obstacle.title(), **fields}
        hopeless = TokenFactory.create(owner=priya.user, account__balance=777, **given)
        make_charge(job=video(hopeless), state="unknown", hold=Decimal(46))
    shown = client_of(vera).get("/").content.decode()
    for obstacle in UNSPENDABLE:
        assert f"{obstacle.title()}<small>not spendable: {obstacle}</small>" in shown
    assert '<p class="figure">4,318<' in shown
    assert "12,000 credits a month" in shown
    assert "5 more cannot be spent." in shown
    assert "4,414 cr before" in shown  # the chart
    assert "4,318 now." in shown
    assert "Nothing held" in shown
    assert load_balance_and_counts(northlight.tenant)[0].note.endswith("not spendable: 5 accounts")
    balance_rule = AlertRule(team=northlight, threshold=1000)
    low = find_low_balances(northlight, [balance_rule], timezone.now())
    assert list(low) == []
    forecast = client_of(vera).get("/forecast/").content.decode()
    assert "<h1>Forecast</h1>" in forecast
    assert "cannot be spent" not in forecast  # of the account that can
    trial = Account.objects.get(name="Trial")
    forecast = client_of(vera).get(f"/forecast/?account={trial.pk}&n=1&each=5").content.decode()
    assert "These credits cannot be spent through the API now: trial." in forecast
    assert "No, not even one." in forecast
