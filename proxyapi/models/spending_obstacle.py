"""Which accounts' credits can be spent through the API, and why those of the others cannot."""

from __future__ import annotations

from django.db import models
from django.db.models import Case, Exists, OuterRef, Q, Value, When

from proxyapi import upstream_address
from proxyapi.models.account import Account, AccountPlan, AccountQuerySet
from proxyapi.models.token import Token


class SpendingObstacle(models.TextChoices):
    """The first of these that applies; an account without one has an empty text."""

    NO_TOKEN = "no_token", "no working token"
    OTHER_UPSTREAM = "other_upstream", "of another address of the service"
    NO_PLAN = "no_plan", "no paid plan"
    TRIAL = "trial", "trial"
    UNVERIFIED = "unverified", "e-mail address not verified"


def annotate_spending_obstacle(accounts: AccountQuerySet) -> AccountQuerySet:
    """Annotate what `Account.spending_obstacle` returns: a `SpendingObstacle`, "" if there is none.

    The only place that decides it (spec, Authentication 4 to 6): sums, lists, forecasts and alerts
    ask here, so that no page promises credits that another one leaves out.
    """
    tokens = Token.objects.not_stopped().filter(account=OuterRef("pk"))
    obstacles = (
        When(~Exists(tokens), then=Value(SpendingObstacle.NO_TOKEN.value)),
        When(
            ~upstream_address.current_upstream_filter(),
            then=Value(SpendingObstacle.OTHER_UPSTREAM.value),
        ),
        When(plan=AccountPlan.NONE, then=Value(SpendingObstacle.NO_PLAN.value)),
        When(plan=AccountPlan.TRIAL, then=Value(SpendingObstacle.TRIAL.value)),
        When(email_verified=False, then=Value(SpendingObstacle.UNVERIFIED.value)),
    )
    case = Case(*obstacles, default=Value(""), output_field=models.CharField())
    return accounts.annotate(obstacle=case)


def spendable_accounts() -> AccountQuerySet:
    """Accounts whose credits can be spent."""
    return annotate_spending_obstacle(Account.objects.all()).filter(Q(obstacle=""))
