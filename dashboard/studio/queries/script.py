"""The script of a draft: its length, the price of a written one, and the status of a request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Q, prefetch_related_objects
from django.utils import timezone

from dashboard.shared.price_question import GUESSED_PRICE_NOTE, PriceQuestion
from dashboard.shared.videos.charge_status import open_charge_texts
from dashboard.studio.flows import flow_of
from proxyapi import pricing
from proxyapi.models import Charge, ChargeState, Job
from proxyapi.models.duration_class import WORDS_PER_SECOND, count_words
from proxyapi.operations import SCRIPT_OPERATIONS

# The longest script that the service writes is 1,200 s (spec, Script durations). It documents no
# limit for own scripts; longer ones are refused here, before a member pays for a failure.
MAX_SCRIPT_WORDS = 3_000
SCRIPT_DURATIONS_S = (30, 60, 180, 300, 600, 900, 1200)
NO_SCRIPT_TEXT = "No script was written, and nothing was charged."


@dataclass(frozen=True, slots=True)
class ScriptLength:
    words: int

    @property
    def seconds(self) -> int:
        return round(self.words / WORDS_PER_SECOND)

    @property
    def duration_text(self) -> str:
        return spoken_duration_text(self.seconds)


@dataclass(frozen=True, slots=True)
class ScriptRequestStatus:
    """The status of the latest script request: waiting, running, unknown, failed, or "" without one
    in progress."""

    state: str = ""
    title: str = ""
    sentence: str = ""

    @property
    def in_progress(self) -> bool:
        return self.state in ("waiting", "running")

    @property
    def blocks_new_script(self) -> bool:
        """True if no other script may be requested now."""
        return self.in_progress or self.state == "unknown"


def script_length(script: object) -> ScriptLength:
    return ScriptLength(count_words(str(script or "")))


def spoken_duration_text(seconds: int) -> str:
    """Format seconds as `60 s`, `3 min` or `3 min 20 s`."""
    if seconds <= 90:
        return f"{seconds} s"
    minutes, left_s = divmod(seconds, 60)
    return f"{minutes} min {left_s:02} s" if left_s else f"{minutes} min"


def build_script_question(job: Job, read_url: str, problem: str) -> PriceQuestion:
    """Return the price of a written script; exact if the service's cost map contains it.

    `read_url` is the web page that was read, `problem` why the token cannot be used, "" if it can.
    """
    account, is_from_page, unmet = job.account, flow_of(job).reads_page, []
    guessed_key = pricing.guessed_cost_map_key(account, flow_of(job).script_operation)
    if problem:
        unmet.append(f"{problem}.")
    elif is_from_page and not read_url:
        unmet.append("Available when the page was read.")
    return PriceQuestion(
        label="Write a script from it" if is_from_page else "Write the script",
        price=pricing.script_credits(account),
        is_exact=bool(account.costs) and not guessed_key,
        price_note=GUESSED_PRICE_NOTE.format(key=guessed_key) if guessed_key else "",
        free_uses=pricing.free_script_uses(account),
        unmet=tuple(unmet),
    )


def script_request_status(job: Job) -> ScriptRequestStatus:
    """A script that arrived has the status "", because it is in the draft."""
    latest = last_script_charge(job)
    if latest is None:
        return ScriptRequestStatus()
    if latest.state == ChargeState.REFUSED:
        return ScriptRequestStatus("failed", NO_SCRIPT_TEXT, latest.reason)
    if not latest.is_open:
        return ScriptRequestStatus()
    texts = open_charge_texts(latest, timezone.now(), job.account.pause_reason)
    return ScriptRequestStatus(texts.glyph, f"Script: {texts.label.lower()}", texts.detail)


def last_script_request(job: Job) -> dict[str, Any]:
    """Return topic, length, style, tone and language of the last script request."""
    latest = last_script_charge(job)
    return dict(latest.body) if latest else {}


def requires_script_words(job: Job) -> bool:
    """Whether the service has refused a script on this account for want of style, tone or
    language. One query."""
    named = Q()
    for word in ("style", "tone", "language"):
        named |= Q(reason__icontains=word)
    refused = Charge.objects.filter(account=job.account_id, state=ChargeState.REFUSED, status=422)
    return refused.filter(named, operation__in=SCRIPT_OPERATIONS).exists()


def last_script_charge(job: Job) -> Charge | None:
    operation = flow_of(job).script_operation
    charges = [charge for charge in draft_charges(job) if charge.operation == operation]
    return max(charges, key=lambda charge: charge.created_at, default=None)


def draft_charges(job: Job) -> list[Charge]:
    """Return all charges of a draft, read once per request."""
    prefetch_related_objects([job], "charges")
    return list(job.charges.all())
