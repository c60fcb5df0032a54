"""The price card: the estimate with its age, what earlier ones cost, what a render still needs.

It holds only what every member of the team may see, so that it can be pushed to all of them; the
button is `act_of`'s answer, under the reader's own session.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

from django.utils import timezone

from dashboard.access import can
from dashboard.models import Membership
from dashboard.queries.purse import lacking
from dashboard.queries.studio.options import Options, options_in
from dashboard.queries.studio.script import charges_of, length_of
from dashboard.queries.studio.steps import Slug, state_of
from dashboard.roles import Permission
from proxyapi import pricing
from proxyapi.credentials import token_vault
from proxyapi.drafts import TYPES_WITH_GENRE, missing_render_fields
from proxyapi.models import Charge, Job, JobState, TokenState
from proxyapi.models.charge import CHARGED_STATES, FACELESS_RENDER_OPERATIONS
from proxyapi.models.duration_class import WORDS_PER_SECOND
from proxyapi.refusals import format_credits

LAST = 14
PATIENCE = timedelta(seconds=20)
LIKE = 1.25  # lengths that differ by at most this factor are "like this"


@dataclass(frozen=True, slots=True)
class Need:
    """A precondition of the service (spec, Faceless render preconditions), or one of ours."""

    label: str
    done: bool
    step: str = ""
    act: str = ""


@dataclass(frozen=True, slots=True)
class Spent:
    """Real prices, in credits, of the last renders of this type and length, newest first."""

    costs: tuple[Decimal, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.costs)

    @property
    def sentence(self) -> str:
        low, high = format_credits(min(self.costs)), format_credits(max(self.costs))
        many = f"Your last {len(self.costs)} videos" if len(self.costs) > 1 else "Your last video"
        span = low if low == high else f"{low} to {high}"
        return f"{many} like this cost {span}."


@dataclass(frozen=True, slots=True)
class Price:
    """`estimate` is set in state `known` only; `stuck` says that an answer is overdue."""

    job_id: UUID
    state: str  # known, pending or none
    estimate: Decimal | None
    as_of: datetime | None
    reason: str
    stuck: bool
    needs: tuple[Need, ...]
    spent: Spent

    @property
    def ready(self) -> bool:
        return self.state == "known" and all(need.done for need in self.needs)

    @property
    def patience(self) -> timedelta:
        """After which an answer that is still pending is overdue; the page counts."""
        return PATIENCE


@dataclass(frozen=True, slots=True)
class RenderAct:
    """The priced button as this reader gets it."""

    job_id: UUID
    show: bool
    ready: bool
    estimate: Decimal | None
    why: str = ""  # it is disabled


def price_of(job: Job) -> Price:
    """Three queries besides the job with its account and token."""
    options = options_in(job.account.options)
    state, reason = state_and_reason(job)
    return Price(
        job_id=job.pk,
        state=state,
        estimate=job.estimate if state == "known" else None,
        as_of=job.estimate_as_of,
        reason=reason,
        stuck=is_stuck(job, state),
        needs=needs_of(job, options),
        spent=spent_like(job),
    )


def act_of(price: Price, reader: Membership) -> RenderAct:
    met = all(need.done for need in price.needs)
    why = "It opens when the price is there." if met else "It opens when every line above is met."
    show = can(reader, Permission.RENDER)
    return RenderAct(price.job_id, show, price.ready, price.estimate, "" if price.ready else why)


def state_and_reason(job: Job) -> tuple[str, str]:
    if missing_render_fields(job.wanted):
        none_yet = "The service is asked as soon as script, voice and genre are chosen."
        return "none", job.quote_error or none_yet
    if job.quote_error:
        return "none", job.quote_error
    if not job.has_current_estimate and job.account.pause_reason:
        return "none", job.account.pause_reason
    return ("known", "") if job.has_current_estimate else ("pending", "")


def is_stuck(job: Job, state: str) -> bool:
    """Whether asking again makes sense: it failed, or nobody has answered for a while."""
    overdue = state == "pending" and timezone.now() - job.edited_at > PATIENCE
    return overdue or bool(state == "none" and job.quote_error)


def needs_of(job: Job, options: Options) -> tuple[Need, ...]:
    wanted = job.wanted
    voice = bool(wanted.get("voice_id"))
    known = voice and state_of(Slug.VOICE, wanted, options)[0]
    needs = [
        Need("Script is set", bool(wanted.get("script")), Slug.SCRIPT, "Add it"),
        Need("Voice is chosen", voice, Slug.VOICE, "Choose"),
        Need("Voice is known to the service", known, Slug.VOICE if voice else "", "Choose"),
    ]
    if wanted.get("type") in TYPES_WITH_GENRE:
        genre = state_of(Slug.LOOK, wanted, options)[0]
        needs.append(Need("Genre is set for AI visuals", genre, Slug.LOOK, "Choose"))
    needs.append(Need("No render is running", not is_busy(job)))
    if stopped := token_need(job):
        needs.append(stopped)
    needs.append(credits_need(job))
    return tuple(needs)


def token_need(job: Job) -> Need | None:
    """Why the service can be asked for nothing with the draft's token; None where it can."""
    if not job.account.is_of_current_upstream:
        return Need("The portal uses the address of this account", False)
    if job.token.state == TokenState.PAUSED:
        return Need("The account has a paid plan", False)
    if job.token.state != TokenState.WORKING or not token_vault.can_decrypt(job.token):
        return Need("The token of this draft works", False)
    return None


def is_busy(job: Job) -> bool:
    """Whether a render of it runs, or is on its way, or may be."""
    charges = charges_of(job)
    return job.state == JobState.RUNNING or any(
        charge.is_open and charge.operation in FACELESS_RENDER_OPERATIONS for charge in charges
    )


def credits_need(job: Job) -> Need:
    """What is held must be free, a little more than the estimate: with less it is refused."""
    if job.account.balance_as_of is None:
        return Need("The balance is not known yet", False)
    free = max(job.account.available_balance(), Decimal(0))
    lacks = lacking(free, pricing.hold_for_estimate(job.estimate or Decimal(0)))
    return Need(lacks or f"{format_credits(free)} cr are free", not lacks and free > 0)


def spent_like(job: Job) -> Spent:
    """What the team's last renders of the same type and about the same length really cost."""
    seconds = length_of(job.wanted.get("script")).words / WORDS_PER_SECOND
    charges = (
        Charge.objects.filter(
            vault=job.vault_id, operation__in=FACELESS_RENDER_OPERATIONS, state__in=CHARGED_STATES
        )
        .filter(job__wanted__type=job.wanted.get("type"))
        .select_related("job")
        .order_by("-settled_at", "-created_at")[:60]
    )
    alike = [charge.cost for charge in charges if charge.cost and is_like(charge, seconds)]
    return Spent(tuple(alike[:LAST]))


def is_like(charge: Charge, seconds: float) -> bool:
    if charge.job is None or not seconds:
        return False
    other = (
        charge.job.seconds or length_of(charge.job.wanted.get("script")).words / WORDS_PER_SECOND
    )
    return bool(other) and max(other, seconds) / min(other, seconds) <= LIKE
