"""The price card of a new voice: what is missing, what it costs, and the question before it."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from django.urls import reverse

from dashboard.models import Membership
from dashboard.shared.access import has_permission
from dashboard.shared.budget_impact import build_budget_impact
from dashboard.shared.formatting import credits, duration
from dashboard.shared.price_question import PriceQuestion
from dashboard.shared.roles import Permission
from dashboard.shared.team_balance import credit_shortfall_text
from dashboard.voices.clone_settings import (
    CloneSettings,
    is_editable,
    parse_clone_settings,
)
from dashboard.voices.slots import FREE, NONE_FOR_SALE, SlotsCard, clone_price, load_slots_card
from proxyapi.credentials import token_vault
from proxyapi.models import AccountPlan, Job, StoredFile, TokenState

CREATE_LABEL = "Create voice"
TOKEN_STOPPED = "The token of this draft does not work now."  # noqa: S105 - a sentence
TOKEN_UNREADABLE = "The token of this draft can no longer be decrypted."  # noqa: S105
NO_TRIALS = "The service allows its API on paid plans only, not on trials."
FREE_TEXT = "The voice uses the free slot. Making it costs nothing."
BUY_TEXT = "For the slot. Making the voice costs nothing more."
QUESTION_SUMMARY = "{samples} of {speaker} go to the service. {slot}"
QUESTION_NOTICE = (
    "The consent is recorded with your name before anything is sent. If the voice fails, the slots "
    "are read again and you see what is left."
)


@dataclass(frozen=True, slots=True)
class CloneNeed:
    """`state` is a glyph: good if it is met, draft if something is to be done, late if something is
    wrong. `anchor` is the part of the page that solves it."""

    state: str
    label: str
    anchor: str = ""
    action_label: str = ""

    @property
    def done(self) -> bool:
        return self.state == "good"


@dataclass(frozen=True, slots=True)
class ClonePrice:
    """`price` is in credits, None as long as it is not known."""

    job_id: UUID
    needs: tuple[CloneNeed, ...]
    price: Decimal | None
    slots: SlotsCard
    note: str
    may_create: bool
    sample_count: int

    @property
    def is_ready(self) -> bool:
        return self.price is not None and all(need.done for need in self.needs)

    @property
    def button_price(self) -> Decimal | None:
        """A free voice has no price in its button."""
        return self.price or None


def load_clone_price(job: Job, reader: Membership) -> ClonePrice:
    """Two queries besides the job with its charges."""
    chosen, slots = parse_clone_settings(job.chosen_settings), load_slots_card(job.account)
    samples = list(job.stored_files.defer("ciphertext"))
    price = clone_price(chosen, slots)
    problem = clone_token_problem(job)
    needs = (
        *([CloneNeed("late", problem)] if problem else []),
        name_need(chosen),
        samples_need(samples),
        consent_need(chosen),
        slot_need(chosen, slots),
    )
    return ClonePrice(
        job_id=job.pk,
        needs=needs,
        price=price,
        slots=slots,
        note=(BUY_TEXT if price else FREE_TEXT) if price is not None else slots.text,
        may_create=has_permission(reader, Permission.RENDER) and is_editable(job),
        sample_count=len(samples),
    )


def name_need(chosen: CloneSettings) -> CloneNeed:
    if not (chosen.name and chosen.gender):
        return CloneNeed("draft", "Enter name and gender", "voice-form", "Enter them")
    return CloneNeed("good", "Name and gender are set")


def samples_need(samples: list[StoredFile]) -> CloneNeed:
    total = sum(file.seconds or 0 for file in samples)
    if not samples:
        return CloneNeed("draft", "Add 1 to 3 samples", "samples", "Add one")
    length = f", {duration(total)}" if total else ""
    return CloneNeed("good", f"{len(samples)} sample{'s'[: len(samples) > 1]}{length}")


def consent_need(chosen: CloneSettings) -> CloneNeed:
    if not chosen.is_speaker_known:
        return CloneNeed("draft", "Choose whose voice it is", "consent", "Choose")
    if not chosen.has_consent:
        return CloneNeed("draft", "Confirm the consent", "consent", "Confirm")
    return CloneNeed("good", "Consent is given")


def slot_need(chosen: CloneSettings, slots: SlotsCard) -> CloneNeed:
    if slots.available is None:
        return CloneNeed("late" if slots.error else "waiting", slots.error or slots.text)
    if slots.available:
        return CloneNeed("good", "A free slot is used")
    if not slots.sells:
        return CloneNeed("late", NONE_FOR_SALE)
    if not chosen.buys_slot:
        return CloneNeed("draft", "No slot is free", "slot", "Buy one")
    return CloneNeed("good", "A slot will be bought")


def clone_token_problem(job: Job) -> str:
    """Why nothing can be sent with the draft's token; empty if it can."""
    account = job.account
    if account.pause_reason:
        return account.pause_reason
    if account.plan == AccountPlan.TRIAL:
        return NO_TRIALS
    if not token_vault.can_decrypt(job.token):
        return TOKEN_UNREADABLE
    return "" if job.token.state == TokenState.WORKING else TOKEN_STOPPED


def build_clone_question(job: Job, reader: Membership) -> PriceQuestion:
    """At most nine queries, five of them for budgets."""
    chosen, price = parse_clone_settings(job.chosen_settings), load_clone_price(job, reader)
    hold = price.price or FREE
    check = job.account.check_credits(hold)
    missing = [need.label for need in price.needs if not need.done]
    speaker = str(reader.user) if chosen.is_own else chosen.speaker
    samples = "1 sample" if price.sample_count == 1 else f"{price.sample_count} samples"
    slot = f"A slot is bought for {credits(hold)} cr." if hold else "It uses a free slot."
    return PriceQuestion(
        label=CREATE_LABEL,
        title=job.title,
        price=price.price,
        is_exact=True,
        summary=QUESTION_SUMMARY.format(samples=samples, speaker=speaker, slot=slot),
        price_note=f"Slots {price.slots.checked_text}" if price.slots.read_at else "",
        credit_check=check,
        budget=build_budget_impact(reader, hold) if hold else None,
        unmet=tuple(filter(None, (*missing, credit_shortfall_text(check)))),
        notice=QUESTION_NOTICE,
        url=reverse("voice-creations", args=[job.pk]),
        cancel_url=reverse("voice", args=[job.pk]),
        sent_url="" if is_editable(job) else reverse("voice", args=[job.pk]),
        hidden_fields={"edited_at": job.draft.edited_at.isoformat()},
    )
