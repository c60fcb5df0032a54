"""What the rules of the team say of a whole batch, before it starts."""

from __future__ import annotations

from decimal import Decimal

from dashboard.batches.dry_run import DryRun
from dashboard.models import Membership
from dashboard.shared.budget_impact import budget_left_text
from dashboard.shared.charging import lock_spending_rules
from dashboard.shared.formatting import credits
from dashboard.shared.start_times import StartTime
from proxyapi.charges import check_hold_fits
from proxyapi.models import Account, ApiKey
from proxyapi.refusals import Refusal

OVER_BUDGET = "Nothing was started. It may need {hold} cr, and {left}."
NEEDS_SECOND_PERSON = (
    "Nothing was started. More than {above} cr at once need a second person, and this may need "
    "{hold} cr."
)
ROW_NEEDS_SECOND_PERSON = (
    "Nothing was started. Charges above {above} cr need a second person each, and a row may need "
    "{hold} cr. Leave it out, and render it in the studio."
)


class SecondPersonForBatch(Refusal):
    """A second person can start it."""


def check_team_rules(
    by: Membership,
    run: DryRun,
    limit: Decimal,
    *,
    is_approved: bool = False,
    start: StartTime | None = None,
    key: ApiKey | None = None,
) -> None:
    """Raise `Refusal` if budgets, the second-person rule, the key or the credits do not allow
    `limit` credits for all rows together. With a `start` in the future only the rule counts now."""
    rules, _ = lock_spending_rules(by, key).covered(limit)
    rules.check_key(by, limit)
    for usage in () if start else rules.usages:
        if not usage.has_room_for(limit):
            raise Refusal(OVER_BUDGET.format(hold=credits(limit), left=budget_left_text(usage)))
    above = rules.second_person_above
    for refusal, text, hold, is_allowed in (
        (Refusal, ROW_NEEDS_SECOND_PERSON, run.largest_limit, False),
        (SecondPersonForBatch, NEEDS_SECOND_PERSON, limit, is_approved),
    ):
        if above is not None and hold > above and not is_allowed:
            raise refusal(text.format(above=credits(above), hold=credits(hold)))
    if start is None:
        check_hold_fits(Account.objects.get_locked(run.token.account_id), limit)
