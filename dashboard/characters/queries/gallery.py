"""The gallery: the team's characters in two groups, filtered by state, name, gender and member."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from django.utils import timezone

from dashboard.characters.queries.cards import (
    CharacterCard,
    build_card,
    characters_of,
    count_uses,
    with_character_relations,
)
from dashboard.models import Membership
from dashboard.shared.access import has_permission
from dashboard.shared.formatting import credits
from dashboard.shared.lists import ListTab, slice_list
from dashboard.shared.member_token import has_member_token
from dashboard.shared.people import load_team_people
from dashboard.shared.query_params import (
    PageFilters,
    choice_field,
    number_field,
    search_field,
)
from dashboard.shared.roles import Permission
from proxyapi import pricing
from proxyapi.models import Account
from proxyapi.operations import PREVIEW_OPERATION, TRAINING_OPERATION
from proxyapi.polling.duration_history import DurationHistory

HIDDEN_TAB = "hidden"
TABS = {  # slug in the URL: label, glyph, names of the states
    "": ("All", "", frozenset[str]()),
    "ready": ("Ready", "", frozenset({"completed"})),
    "training": ("Training", "running", frozenset({"running", "late", "paused", "waiting"})),
    "failed": ("Failed", "failed", frozenset({"failed"})),
    "unknown": ("Unknown", "unknown", frozenset({"unknown"})),
    "drafts": ("Not trained", "draft", frozenset({"draft"})),
}
GENDER_LABELS = {"": "any", "female": "female", "male": "male", "neutral": "neutral"}
LOOK_ONLY_TEXT = "You can look; producers can make."
SORT_LABELS = {"": "Most used first", "newest": "Newest first", "name": "By name"}


@dataclass(frozen=True, slots=True)
class CharacterFilters(PageFilters):
    PAGE: ClassVar[str] = "characters"
    CURSOR: ClassVar[str] = "offset"
    ID: ClassVar[str] = "character"

    state: str = choice_field({**dict.fromkeys(TABS, ""), HIDDEN_TAB: ""})
    search: str = search_field()
    gender: str = choice_field(GENDER_LABELS, "Gender")
    member: int | None = number_field("Made by", unset="anyone")
    sort: str = choice_field(SORT_LABELS, narrows=False)
    offset: int | None = None


def load_gallery(reader: Membership, filters: CharacterFilters) -> dict[str, Any]:
    """Nine queries for any number of characters."""
    tenant, now = reader.team.tenant, timezone.now()
    durations, uses = DurationHistory(tenant_id=tenant.pk), count_uses(tenant)
    jobs = with_character_relations(characters_of(tenant)).order_by("-created_at", "-pk")
    cards = [build_card(job, durations, now, uses=uses, reader=reader) for job in jobs]
    found = select_cards(cards, filters)
    people = {str(person.id): person.first_name for person in load_team_people(reader.team)}
    groups = {
        "Not ready yet": [card for card in found if not card.status.is_trained],
        "Ready": [card for card in found if card.status.is_trained],
    }
    return {
        "list": slice_list(filters, found, len(found), member=people),
        "tabs": build_tabs(cards, filters),
        "groups": [(title, members) for title, members in groups.items() if members],
        "note": price_note(reader),
        "may_make": has_permission(reader, Permission.RENDER),
        "has_token": has_member_token(reader),
        "is_empty": not cards,
    }


def build_tabs(cards: Sequence[CharacterCard], filters: CharacterFilters) -> list[ListTab]:
    """Tabs of states that no character has are left out, except the first two and the current."""
    shown = [card for card in cards if not card.is_hidden]
    counts = {
        slug: sum(1 for card in shown if not states or card.status.state.name in states)
        for slug, (_, _, states) in TABS.items()
    }
    rows = [(slug, *TABS[slug][:2], count) for slug, count in counts.items()]
    rows.append((HIDDEN_TAB, "Hidden", "", len(cards) - len(shown)))
    return [
        ListTab(label, glyph, count, filters.url(state=slug), slug == filters.state)
        for slug, label, glyph, count in rows
        if count or slug in ("", "ready", filters.state)
    ]


def select_cards(cards: Sequence[CharacterCard], filters: CharacterFilters) -> list[CharacterCard]:
    is_hidden, words = filters.state == HIDDEN_TAB, filters.search.casefold()
    states = frozenset[str]() if is_hidden else TABS[filters.state][2]
    chosen = [
        card
        for card in cards
        if card.is_hidden == is_hidden
        and (not states or card.status.state.name in states)
        and words in card.name.casefold()
        and filters.gender in ("", card.gender)
        and filters.member in (None, card.member_id)
    ]
    if filters.sort == "name":
        chosen.sort(key=lambda card: card.name.casefold())
    elif not filters.sort:
        chosen.sort(key=lambda card: -card.used_in)
    return chosen


def price_note(reader: Membership) -> str:
    """What previews and a training cost, by the price list of the team's first account."""
    accounts = Account.objects.not_archived().filter(tenant=reader.team.tenant_id)
    account = accounts.order_by("created_at").first()
    if account is None:
        return "Faces that can appear in AI visuals."
    training = pricing.fixed_price(account, TRAINING_OPERATION)
    preview = pricing.listed_price_or_free(account, PREVIEW_OPERATION)
    previews = f"A preview costs {credits(preview)} cr" if preview else "Previews are free"
    train = f"; training one costs {credits(training)} cr" if training is not None else ""
    note = f"Faces that can appear in AI visuals. {previews}{train}."
    return note if has_permission(reader, Permission.RENDER) else f"{note} {LOOK_ONLY_TEXT}"
