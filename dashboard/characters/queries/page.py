"""The page of a character: its state, how it was made, and where it is used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.urls import reverse
from django.utils import timezone

from dashboard.characters.queries.cards import (
    CharacterCard,
    build_card,
    count_uses,
    load_genre_names,
)
from dashboard.characters.queries.rounds import PreviewRounds, build_rounds
from dashboard.models import CharacterPhoto, Membership
from dashboard.shared.access import has_permission
from dashboard.shared.formatting import clock, day
from dashboard.shared.roles import Permission
from dashboard.shared.videos.cost import FREE_AMOUNT, CreditAmount, charge_amount
from proxyapi.models import Charge, Job
from proxyapi.operations import PREVIEW_OPERATION, TRAINING_OPERATION
from proxyapi.polling.duration_history import DurationHistory

HEADINGS = {
    "completed": "{name} is ready",
    "failed": "The training failed",
    "unknown": "It is not known whether {name} is being trained",
    "draft": "{name} is not trained yet",
    "running": "{name} is being trained",
    "late": "{name} is being trained",
}
OTHER_HEADING = "The training of {name}"
READY_TEXT = "It is offered in the studio, at Visuals of AI visuals."
READY_SOON_TEXT = (
    "The service’s list of characters is read again; then it is offered in the studio."
)
TRAINING_TEXT = "You can leave this page. When {name} is ready, it is offered in the studio."
NOT_TRAINED_TEXT = "Producers choose a picture and have it trained."


@dataclass(frozen=True, slots=True)
class MakingStep:
    """A line of the history; `state` is its glyph."""

    state: str
    name: str
    amount: CreditAmount
    meta: str
    is_current: bool = False


@dataclass(frozen=True, slots=True)
class CharacterFact:
    label: str
    value: str


def load_character_page(job: Job, reader: Membership) -> dict[str, Any]:
    """`job` is of `with_character_relations`; three queries."""
    tenant, now = reader.team.tenant, timezone.now()
    card = build_card(
        job,
        DurationHistory({job.kind}, tenant.pk),
        now,
        uses=count_uses(tenant),
        reader=reader,
    )
    names = load_genre_names(job.account)
    rounds, state = build_rounds(job, names), card.status.state.name
    may_change = has_permission(reader, Permission.RENDER)
    can_choose = may_change and state == "failed"
    heading = HEADINGS.get(state, OTHER_HEADING).format(name=card.name)
    return {
        "card": card,
        "heading": heading,
        "text": page_text(card),
        "note": page_note(job, rounds, names),
        "history": tuple(history_steps(job, rounds)),
        "facts": tuple(character_facts(job, rounds)),
        "spent": card.cost,
        "may_change": may_change,
        "other_picture_url": reverse("character-step", args=[job.pk, "preview"])
        if can_choose
        else "",
        "is_running": card.status.bar is not None,
        "usual_note": card.status.bar.usual_note if card.status.bar else "",
    }


def page_text(card: CharacterCard) -> str:
    if card.status.detail:
        return card.status.detail
    match card.status.state.name:
        case "completed":
            return READY_TEXT if card.option_uuid else READY_SOON_TEXT
        case "draft":
            return NOT_TRAINED_TEXT
        case "running" | "late":
            return TRAINING_TEXT.format(name=card.name)
    return ""


def page_note(job: Job, rounds: PreviewRounds, names: Mapping[str, str]) -> str:
    """Such as `Female, 28, Storybook. Made by Luca today.`"""
    chosen = job.chosen_settings
    parts = [str(chosen.get(name) or "") for name in ("gender", "age")]
    known = ", ".join(filter(None, (*parts, chosen_genre_name(rounds))))
    made_on = day(job.created_at)
    when = made_on if made_on == "today" else f"on {made_on}"
    made = f"Made by {job.member.first_name} {when}."
    return f"{known[:1].upper()}{known[1:]}. {made}" if known else made


def chosen_genre_name(rounds: PreviewRounds) -> str:
    return rounds.chosen[0].genre if rounds.chosen else ""


def history_steps(job: Job, rounds: PreviewRounds) -> Iterator[MakingStep]:
    """Photo, previews and trainings, in the order of making."""
    photo: CharacterPhoto | None = getattr(job, "character_photo", None)
    if photo is not None:
        who = f"{photo.confirmed_by.first_name}, {clock(photo.confirmed_at)}"
        yield MakingStep("good", f"Photo, {photo.name}", FREE_AMOUNT, who)
    if rounds.rounds:
        yield previews_step(job, rounds)
    trainings = [row for row in job.charges.all() if row.operation == TRAINING_OPERATION]
    for charge in trainings:
        yield training_step(job, charge, is_last=charge is trainings[-1])


def previews_step(job: Job, rounds: PreviewRounds) -> MakingStep:
    charges = [row for row in job.charges.all() if row.operation == PREVIEW_OPERATION]
    spent = sum((row.cost or Decimal(0) for row in charges if row.is_charged), Decimal(0))
    ordered = rounds.rounds[::-1]
    genres = dict.fromkeys(row.genre for row in ordered if row.genre)
    count = len(ordered)
    name = f"{count} preview{'' if count == 1 else 's'}, {join_words(list(genres))}"
    times = join_words(list(dict.fromkeys(clock(row.made_at) for row in ordered if row.made_at)))
    pictures = rounds.picture_count
    meta = f"{times}, {pictures} picture{'' if pictures == 1 else 's'}"
    return MakingStep("good", name, CreditAmount(spent) if spent else FREE_AMOUNT, meta)


def training_step(job: Job, charge: Charge, *, is_last: bool) -> MakingStep:
    if charge.is_open and charge.applied_at is None:
        state = "unknown" if charge.state == "unknown" else "waiting"
    elif is_last and charge.is_charged:
        state = {"completed": "good", "failed": "failed"}.get(job.state, "running")
    else:
        state = "failed"
    sent = f"Sent {clock(charge.sent_at)}" if charge.sent_at else "Not sent"
    return MakingStep(state, "Training", charge_amount(charge), sent, is_current=is_last)


def join_words(words: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def character_facts(job: Job, rounds: PreviewRounds) -> Iterator[CharacterFact]:
    chosen = job.chosen_settings
    gender, age = str(chosen.get("gender") or ""), str(chosen.get("age") or "")
    if gender or age:
        yield CharacterFact("Gender and age", ", ".join(filter(None, (gender.capitalize(), age))))
    if genre := chosen_genre_name(rounds):
        yield CharacterFact("Genre", genre)
    photo: CharacterPhoto | None = getattr(job, "character_photo", None)
    if photo is not None:
        when = f"{day(photo.confirmed_at)}, {clock(photo.confirmed_at)}"
        yield CharacterFact("Right to the photo", f"Confirmed by {photo.confirmed_by}, {when}")
