"""The voices page: the service's voices, as the reader's account has them, samples and stars."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from dashboard.models import Membership
from dashboard.shared.access import has_permission
from dashboard.shared.filter_chips import (
    FilterChip,
    FilterSheet,
    build_filter_chip,
    build_filter_sheet,
)
from dashboard.shared.formatting import day
from dashboard.shared.roles import Permission
from dashboard.shared.video_options import FacelessOptions, VoiceOption, account_options
from dashboard.voices.queries.filters import (
    FAVOURITE_LABELS,
    SAMPLE_LABELS,
    SORT_LABELS,
    VoiceListFilters,
)
from dashboard.voices.queries.own_voices import OwnVoices, load_own_voices
from dashboard.voices.queries.voice_use import (
    NEVER_USED,
    VoiceCount,
    load_voice_counts,
    voiced_jobs,
)
from dashboard.voices.slots import SlotsCard, load_slots_card
from proxyapi.models import Account, JobState, Token

FIRST_ROWS = 25
MAX_SAMPLED_VIDEOS = 200  # newest videos that are searched for passages


@dataclass(frozen=True, slots=True)
class VoicePassage:
    """The newest finished video of the team with a voice, of which a passage is played."""

    job_id: UUID
    title: str


@dataclass(frozen=True, slots=True)
class ServiceVoice:
    """`missing_text` is of a voice that drafts have and the service no longer lists."""

    voice: VoiceOption
    passage: VoicePassage | None
    count: VoiceCount
    last_used: str
    is_favourite: bool
    missing_text: str = ""

    @property
    def star_label(self) -> str:
        return "Remove from favourites" if self.is_favourite else "Add to favourites"


@dataclass(frozen=True, slots=True)
class VoicesPage:
    own: OwnVoices
    slots: SlotsCard | None
    rows: tuple[ServiceVoice, ...]
    match_count: int
    total: int
    filters: VoiceListFilters
    chips: tuple[FilterChip, ...]
    sort: FilterChip
    sheet: FilterSheet
    is_known: bool  # whether the account's voices were read
    has_account: bool
    has_token: bool
    may_make: bool

    @property
    def more_url(self) -> str:
        left = self.match_count - len(self.rows)
        return self.filters.url(shown="all") if left else ""

    @property
    def clear_url(self) -> str:
        return VoiceListFilters().url()

    @property
    def note(self) -> str:
        """Return what the list has, in a sentence."""
        own = self.own.ready_count
        if not self.is_known:
            return "The voices that can read your videos."
        of_own = f" and {own} of your own" if own else ""
        voices = "1 voice" if self.total == 1 else f"{self.total} voices"
        hint = "" if self.may_make else " You can look; producers can make."
        return f"{voices} of the service{of_own}.{hint}"


def load_voices_page(reader: Membership, filters: VoiceListFilters) -> VoicesPage:
    """At most eleven queries."""
    account, has_token = find_account(reader)
    options = account_options(account) if account else FacelessOptions({})
    own = load_own_voices(reader)
    counts = load_voice_counts(reader.team.tenant)
    stars = load_favourites(reader, account)
    passages = load_passages(reader)
    listed = [voice for voice in options.voices() if voice.value not in own.voice_ids]
    missing = missing_voices(options, own, counts, account)
    rows = [
        build_service_voice(voice, passages, counts, stars, is_missing=voice in missing)
        for voice in (*missing, *listed)
    ]
    matches = sort_voices([row for row in rows if matches_filters(row, filters)], filters)
    chips = build_chips(listed, filters)
    sort = build_filter_chip("sort", "", SORT_LABELS, filters)
    return VoicesPage(
        own=own,
        slots=load_slots_card(account) if account else None,
        rows=tuple(matches if filters.shown else matches[:FIRST_ROWS]),
        match_count=len(matches),
        total=len(listed),
        filters=filters,
        chips=chips,
        sort=sort,
        sheet=build_filter_sheet(VoiceListFilters().url(), [*chips, sort], filters),
        is_known=bool(options),
        has_account=account is not None,
        has_token=has_token,
        may_make=has_permission(reader, Permission.RENDER),
    )


def find_account(reader: Membership) -> tuple[Account | None, bool]:
    """Return the account of the reader's own token, else one of the team's, and whether the reader
    has a token; at most two queries."""
    own = Token.objects.usable().filter(tenant=reader.team.tenant_id, owner=reader.user_id)
    token = own.select_related("account").best_first().first()
    if token is not None:
        return token.account, True
    accounts = Account.objects.of_current_upstream().not_archived()
    accounts = accounts.filter(tenant=reader.team.tenant_id)
    return accounts.order_by("options_as_of", "created_at").last(), False


def load_favourites(reader: Membership, account: Account | None) -> frozenset[str]:
    if account is None:
        return frozenset()
    return reader.favourite_voices_of(account.environment)


def load_passages(reader: Membership) -> dict[str, VoicePassage]:
    jobs = voiced_jobs(reader.team.tenant_id).filter(state=JobState.COMPLETED)
    rows = jobs.exclude(media_url="").order_by("-finished_at").values_list("voice", "pk", "title")
    passages: dict[str, VoicePassage] = {}
    for voice, pk, title in rows[:MAX_SAMPLED_VIDEOS]:
        passages.setdefault(str(voice), VoicePassage(pk, title))
    return passages


def missing_voices(
    options: FacelessOptions,
    own: OwnVoices,
    counts: Mapping[str, VoiceCount],
    account: Account | None,
) -> list[VoiceOption]:
    """Voices of drafts that the service no longer lists; their names are not known any more."""
    if not options or account is None:
        return []
    known = {voice.value for voice in options.voices()} | own.voice_ids
    known |= set(account.withdrawn_voice_ids)
    return [
        VoiceOption(id, f"Voice {id}", "", "")
        for id, count in counts.items()
        if id not in known and count.drafts
    ]


def build_service_voice(
    voice: VoiceOption,
    passages: Mapping[str, VoicePassage],
    counts: Mapping[str, VoiceCount],
    stars: frozenset[str],
    *,
    is_missing: bool,
) -> ServiceVoice:
    count = counts.get(voice.value, NEVER_USED)
    drafts = "1 draft uses it" if count.drafts == 1 else f"{count.drafts} drafts use it"
    return ServiceVoice(
        voice=voice,
        passage=passages.get(voice.value),
        count=count,
        last_used=day(count.last_used_at) or "never",
        is_favourite=voice.value in stars,
        missing_text=f"Not listed any more. {drafts}." if is_missing else "",
    )


def matches_filters(row: ServiceVoice, filters: VoiceListFilters) -> bool:
    text = f"{row.voice.name} {row.voice.note}".lower()
    return (
        all(word in text for word in filters.search.lower().split())
        and (not filters.language or filters.language in row.voice.languages)
        and (not filters.gender or filters.gender == row.voice.gender)
        and (not filters.sample or row.passage is not None)
        and (not filters.favourites or row.is_favourite)
    )


def sort_voices(rows: list[ServiceVoice], filters: VoiceListFilters) -> list[ServiceVoice]:
    if filters.sort == "name":
        return sorted(rows, key=lambda row: row.voice.name.lower())
    return sorted(
        rows, key=lambda row: (-row.count.videos, not row.is_favourite, row.voice.name.lower())
    )


def build_chips(voices: list[VoiceOption], filters: VoiceListFilters) -> tuple[FilterChip, ...]:
    languages = sorted({language for voice in voices for language in voice.languages})
    genders = sorted({voice.gender for voice in voices if voice.gender})
    return (
        build_filter_chip("language", "Language", any_of(languages), filters),
        build_filter_chip("gender", "Gender", any_of(genders), filters),
        build_filter_chip("sample", "Sample", SAMPLE_LABELS, filters),
        build_filter_chip("favourites", "Show", FAVOURITE_LABELS, filters),
    )


def any_of(values: list[str]) -> dict[str, str]:
    return {"": "any", **{value: value for value in values}}
