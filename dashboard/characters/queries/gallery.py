"""The gallery: the team's characters in two groups, filtered by state, name, gender and member."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

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
from dashboard.shared.filter_chips import (
    FilterChip,
    FilterSheet,
    build_filter_chip,
    build_filter_sheet,
)
from dashboard.shared.formatting import credits
from dashboard.shared.member_token import has_member_token
from dashboard.shared.people import load_team_people
from dashboard.shared.query_params import PageFilters, allowed_or_empty, parse_search_text
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

    state: str = ""
    search: str = ""
    gender: str = ""
    member: str = ""
    sort: str = ""
    offset: int | None = None

    @property
    def is_narrowed(self) -> bool:
        return bool(self.state or self.search or self.gender or self.member)


@dataclass(frozen=True, slots=True)
class GalleryTab:
    label: str
    glyph: str
    count: int
    url: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class CardGroup:
    title: str
    cards: tuple[CharacterCard, ...]


@dataclass(frozen=True, slots=True)
class Gallery:
    filters: CharacterFilters
    tabs: tuple[GalleryTab, ...]
    groups: tuple[CardGroup, ...]
    chips: tuple[FilterChip, ...]
    sort: FilterChip
    sheet: FilterSheet
    note: str
    may_make: bool
    has_token: bool
    is_empty: bool

    @property
    def url(self) -> str:
        return self.filters.url()


def parse_character_filters(query: Mapping[str, str]) -> CharacterFilters:
    return CharacterFilters(
        state=allowed_or_empty(query.get("state", ""), {*TABS, HIDDEN_TAB}),
        search=parse_search_text(query),
        gender=allowed_or_empty(query.get("gender", ""), GENDER_LABELS),
        member=query.get("member", "") if query.get("member", "").isdecimal() else "",
        sort=allowed_or_empty(query.get("sort", ""), SORT_LABELS),
    )


def load_gallery(reader: Membership, filters: CharacterFilters) -> Gallery:
    """Nine queries for any number of characters."""
    tenant, now = reader.team.tenant, timezone.now()
    durations, uses = DurationHistory(tenant_id=tenant.pk), count_uses(tenant)
    jobs = with_character_relations(characters_of(tenant)).order_by("-created_at", "-pk")
    cards = [build_card(job, durations, now, uses=uses, reader=reader) for job in jobs]
    people = {
        "": "anyone",
        **{str(one.id): one.first_name for one in load_team_people(reader.team)},
    }
    chips = (
        build_filter_chip("gender", "Gender", GENDER_LABELS, filters),
        build_filter_chip("member", "Made by", people, filters),
    )
    sort = build_filter_chip("sort", "", SORT_LABELS, filters)
    return Gallery(
        filters=filters,
        tabs=build_tabs(cards, filters),
        groups=build_groups(select_cards(cards, filters)),
        chips=chips,
        sort=sort,
        sheet=build_filter_sheet(filters.url(), (*chips, sort), filters),
        note=price_note(reader),
        may_make=has_permission(reader, Permission.RENDER),
        has_token=has_member_token(reader),
        is_empty=not cards,
    )


def build_tabs(cards: Sequence[CharacterCard], filters: CharacterFilters) -> tuple[GalleryTab, ...]:
    """Tabs of states that no character has are left out, except the first two and the current."""
    shown = [card for card in cards if not card.is_hidden]
    counts = {
        slug: sum(1 for card in shown if not states or card.status.state.name in states)
        for slug, (_, _, states) in TABS.items()
    }
    rows = [(slug, *TABS[slug][:2], count) for slug, count in counts.items()]
    rows.append((HIDDEN_TAB, "Hidden", "", len(cards) - len(shown)))
    return tuple(
        GalleryTab(label, glyph, count, filters.url(state=slug), slug == filters.state)
        for slug, label, glyph, count in rows
        if count or slug in ("", "ready", filters.state)
    )


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
        and filters.member in ("", str(card.member_id))
    ]
    if filters.sort == "name":
        chosen.sort(key=lambda card: card.name.casefold())
    elif not filters.sort:
        chosen.sort(key=lambda card: -card.used_in)
    return chosen


def build_groups(cards: Sequence[CharacterCard]) -> tuple[CardGroup, ...]:
    groups = (
        CardGroup("Not ready yet", tuple(card for card in cards if not card.status.is_trained)),
        CardGroup("Ready", tuple(card for card in cards if card.status.is_trained)),
    )
    return tuple(group for group in groups if group.cards)


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
