"""The price card of the composer, for one reader: the exact price, what is held, what is left, and
what a clip still needs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.urls import reverse
from django.utils import timezone

from dashboard.clips.queries.composer import Composer
from dashboard.clips.readiness import (
    find_model_problem,
    find_prompt_problem,
    find_reference_problem,
)
from dashboard.models import Membership
from dashboard.shared.budget_impact import BudgetImpact, build_budget_impact
from dashboard.shared.clip_models import ClipModel, estimate_from_list
from dashboard.shared.formatting import credit_rate, credits
from dashboard.shared.price_question import EXACT_HOLD_LABEL, AmountRow
from dashboard.shared.team_balance import available_credits_text, credit_shortfall_text
from proxyapi.credentials import token_vault
from proxyapi.kinds import MIN_PROMPT_WORDS
from proxyapi.models import Draft, Job, TokenState
from proxyapi.refusals import CreditCheck

QUOTE_TIMEOUT = timedelta(seconds=20)
ASKED_WHEN_WRITTEN = "The exact price is asked for when you write the prompt or choose something."
CONFIRM_NOTE = "You confirm the price before anything is charged."
UNMET = "Available when every line above is met."
ASKING = "The service is asked for the price."
NO_PRICE = "Available when the price is known."


@dataclass(frozen=True, slots=True)
class ClipRequirement:
    """`state` is a glyph: good if it is met, draft if something is to be done, late if something is
    wrong."""

    label: str
    state: str
    url: str = ""
    action_label: str = ""

    @property
    def is_met(self) -> bool:
        return self.state == "good"


@dataclass(frozen=True, slots=True)
class ClipPriceCard:
    """`state`: known, pending, none, or list (not asked for yet: `price` is then about right).

    `url` of the card; "" while there is no draft.
    """

    state: str
    price: Decimal | None
    as_of: datetime | None
    reason: str
    can_request_again: bool
    rows: tuple[AmountRow, ...]
    requirements: tuple[ClipRequirement, ...]
    url: str
    question_url: str
    is_over_budget: bool
    disabled_reason: str

    @property
    def is_ready(self) -> bool:
        return not self.disabled_reason

    @property
    def button_note(self) -> str:
        return self.disabled_reason or CONFIRM_NOTE

    @property
    def label(self) -> str:
        return f"Ask for {credits(self.price)} cr" if self.is_over_budget else "Generate"

    @property
    def quote_timeout(self) -> timedelta:
        return QUOTE_TIMEOUT


def build_clip_price(composer: Composer, reader: Membership) -> ClipPriceCard:
    """At most seven queries, five of them for budgets, and none without an exact price."""
    state, reason = clip_price_state(composer)
    job, price, check, budget = composer.job, None, None, None
    if state == "list" and composer.model is not None:
        price = estimate_from_list(composer.model, composer.settings)
    rows: tuple[AmountRow, ...] = ()
    if job is not None and state == "known" and job.draft.estimate is not None:
        price = job.draft.estimate
        check = job.account.check_credits(price)
        budget = build_budget_impact(reader, price, job_id=job.pk)
        rows = tuple(price_rows(composer, price, check.free, budget))
    requirements = find_requirements(composer, check)
    return ClipPriceCard(
        state=state,
        price=price,
        as_of=job.draft.estimate_as_of if job else None,
        reason=reason,
        can_request_again=job is not None and can_request_again(job, state),
        rows=rows,
        requirements=requirements,
        url=reverse("clip-price", args=[job.pk]) if job else "",
        question_url=reverse("clip-generations", args=[job.pk]) if job else "",
        is_over_budget=budget is not None and bool(budget.refusal),
        disabled_reason=find_disabled_reason(state, requirements),
    )


def clip_price_state(composer: Composer) -> tuple[str, str]:
    if composer.job is None:
        return "list", ASKED_WHEN_WRITTEN
    draft: Draft = composer.job.draft
    if draft.quote_error:
        return "none", draft.quote_error
    if draft.estimate is not None and draft.has_current_estimate:
        return "known", ""
    if composer.job.account.pause_reason:
        return "none", composer.job.account.pause_reason
    return ("pending", "") if composer.model else ("none", "Choose a model first.")


def can_request_again(job: Job, state: str) -> bool:
    """True if the last request failed, or its answer is overdue."""
    is_overdue = timezone.now() - job.draft.edited_at > QUOTE_TIMEOUT
    return (state == "pending" and is_overdue) or bool(state == "none" and job.draft.quote_error)


def price_rows(
    composer: Composer, price: Decimal, available: Decimal, budget: BudgetImpact | None
) -> list[AmountRow]:
    rows = [AmountRow(EXACT_HOLD_LABEL, price, "held")]
    if composer.model is not None and (line := rate_row(composer.model, composer, price)):
        rows.insert(0, line)
    if budget is not None:
        rows.append(AmountRow(budget.label, budget.left, note=budget.note))
        if not budget.refusal:
            rows.append(AmountRow("Left of the budget", budget.after, is_total=True))
    elif available >= price:
        rows.append(AmountRow("Left on the account", available - price, is_total=True))
    return rows


def rate_row(model: ClipModel, composer: Composer, price: Decimal) -> AmountRow | None:
    """Return how the price comes about, if the service's list explains it."""
    rate, seconds = model.rate_of(composer.settings), composer.settings.get("duration")
    if rate is None or not isinstance(seconds, int):
        return None
    exact = rate * seconds
    note = "" if exact == price else f"{credits(exact)}, rounded by the service"
    if abs(exact - price) >= 1:  # the list does not explain it
        return None
    return AmountRow(f"{seconds} s at {credit_rate(rate)} cr", price, note=note)


def find_requirements(composer: Composer, check: CreditCheck | None) -> tuple[ClipRequirement, ...]:
    """`check` is None without an exact price."""
    prompt_problem = find_prompt_problem(composer.prompt)
    words = f"{composer.word_count:,} word{'' if composer.word_count == 1 else 's'}"
    model = composer.model
    is_short = composer.word_count < MIN_PROMPT_WORDS
    prompt_state = "draft" if is_short else "late" if prompt_problem else "good"
    problem = find_model_problem(composer.settings, model)
    missing_file = find_reference_problem(composer.settings, model)
    model_state = "late" if problem else "draft" if missing_file else "good"
    offered = f"{model.name} offers these settings" if model else ""
    needs = [
        ClipRequirement(prompt_problem or f"Prompt has {words}", prompt_state),
        ClipRequirement(problem or missing_file or offered, model_state),
    ]
    if composer.job is not None and (token_problem := find_token_problem(composer.job)):
        needs.append(ClipRequirement(token_problem, "late", reverse("tokens"), "Add one"))
    if check is not None:
        shortfall = credit_shortfall_text(check)
        state = "late" if shortfall else "good"
        needs.append(ClipRequirement(shortfall or available_credits_text(check), state))
    return tuple(needs)


def find_token_problem(job: Job) -> str:
    if job.account.pause_reason:
        return job.account.pause_reason
    if job.token.state != TokenState.WORKING or not token_vault.can_decrypt(job.token):
        return "The token of this draft does not work"
    return ""


def find_disabled_reason(state: str, requirements: tuple[ClipRequirement, ...]) -> str:
    if not all(need.is_met for need in requirements):
        return UNMET
    return {"known": "", "pending": ASKING}.get(state, NO_PRICE)
