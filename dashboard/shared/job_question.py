"""The price question before a charge of a job: what its token and its account lack for it."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from dashboard.models import Membership
from dashboard.shared.budget_impact import build_budget_impact
from dashboard.shared.job_pages import job_page_url
from dashboard.shared.price_question import PriceQuestion
from dashboard.shared.team_balance import credit_shortfall_text
from proxyapi.credentials import token_vault
from proxyapi.models import Job, Storyboard, TokenState

UNREADABLE_TEXT = "The token it was made with can no longer be decrypted. Add it again."
NOT_WORKING_TEXT = "The token it was made with does not work now. Add a new token first."


def build_job_question(
    job: Job,
    reader: Membership,
    price: Decimal | None,
    *,
    hold: Decimal,
    problems: Iterable[str] = (),
    **texts: object,
) -> PriceQuestion:
    """Build the question whose Cancel leads to the job's page. `price` and `hold` are credits,
    `problems` sentences or empty, `texts` other fields of `PriceQuestion`. Six queries, five of
    them for budgets."""
    check = job.account.check_credits(hold)
    unmet = (*problems, job_token_problem(job), credit_shortfall_text(check))
    return PriceQuestion(
        price=price,
        credit_check=check,
        budget=build_budget_impact(reader, hold, job_id=job.pk),
        unmet=tuple(filter(None, unmet)),
        title=job.title,
        cancel_url=job_page_url(job),
        **texts,  # type: ignore[arg-type]
    )


def job_token_problem(job: Job | Storyboard) -> str:
    """Why the job's token cannot send a request; empty if it can."""
    if job.account.pause_reason:
        return job.account.pause_reason
    if not token_vault.can_decrypt(job.token):
        return UNREADABLE_TEXT
    return "" if job.token.state == TokenState.WORKING else NOT_WORKING_TEXT
