"""The voices page: the service's voices, as the reader's account has them, samples and stars."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from dashboard.models import Membership
from dashboard.shared.access import has_permission
from dashboard.shared.filter_chips import build_chips
from dashboard.shared.lists import ListPage
from dashboard.shared.query_params import PageFilters, choice_field, search_field, text_field
from dashboard.shared.roles import Permission
from dashboard.shared.video_options import FacelessOptions, VoiceOption, account_options
from dashboard.voices.queries.own_voices import OwnVoices, load_own_voices
from dashboard.voices.queries.voice_use import (
    NEVER_USED,
    VoiceCount,
    load_voice_counts,
    voiced_jobs,
)
from dashboard.voices.slots import load_slots_card
from proxyapi.models import Account, JobState, Token

FIRST_ROWS = 25
MAX_SAMPLED_VIDEOS = 200  # newest videos that are searched for passages


@dataclass(frozen=True, slots=True)
class VoiceListFilters(PageFilters):
    """`shown` is "all" once a reader wants more than the first rows."""

    PAGE: ClassVar[str] = "voices"
    CURSOR: ClassVar[str] = "shown"
    ID: ClassVar[str] = "voice"

    search: str = search_field()
    language: str = text_field(100, "Language")
    gender: str = text_field(100, "Gender")
    sample: str = choice_field({"": "any", "with": "with sample"}, "Sample")
    favourites: str = choice_field({"": "all", "only": "favourites"}, "Show")
    sort: str = choice_field({"": "Most used first", "name": "By name"}, narrows=False)
    shown: str = choice_field({"all": ""}, narrows=False)


def load_voices_page(reader: Membership, filters: VoiceListFilters) -> dict[str, Any]:
    """At most eleven queries. `is_known`: whether the account's voices were read."""
    account, has_token = find_account(reader)
    options = account_options(account) if account else FacelessOptions({})
    own = load_own_voices(reader)
    counts = load_voice_counts(reader.team.tenant)
    stars = load_favourites(reader, account)
    passages = load_passages(reader)
    listed = [voice for voice in options.voices() if voice.value not in own.voice_ids]
    missing = missing_voices(options, own, counts, account)
    rows = [
        {
            "voice": voice,
            "passage": passages.get(voice.value),
            "count": counts.get(voice.value, NEVER_USED),
            "is_favourite": voice.value in stars,
            "is_missing": voice in missing,
        }
        for voice in (*missing, *listed)
    ]
    matches = sort_voices([row for row in rows if matches_filters(row, filters)], filters)
    return {
        "list": build_list(listed, matches, filters),
        "own": own,
        "slots": load_slots_card(account) if account else None,
        "total": len(listed),
        "is_known": bool(options),
        "has_account": account is not None,
        "has_token": has_token,
        "may_make": has_permission(reader, Permission.RENDER),
    }


def build_list(
    voices: list[VoiceOption], matches: list[dict[str, Any]], filters: VoiceListFilters
) -> ListPage:
    languages = sorted({language for voice in voices for language in voice.languages})
    genders = sorted({voice.gender for voice in voices if voice.gender})
    shown = matches if filters.shown else matches[:FIRST_ROWS]
    chips = build_chips(
        filters,
        language={language: language for language in languages},
        gender={gender: gender for gender in genders},
    )
    return ListPage(
        filters=filters,
        rows=shown,
        total=len(matches),
        next_url=filters.url(shown="all") if len(shown) < len(matches) else "",
        first_url="",
        chips=tuple(chips),
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


def load_passages(reader: Membership) -> dict[str, dict[str, Any]]:
    """Return by voice the newest finished video of the team, of which a passage is played."""
    jobs = voiced_jobs(reader.team.tenant_id).filter(state=JobState.COMPLETED)
    rows = jobs.exclude(media_url="").order_by("-finished_at").values_list("voice", "pk", "title")
    passages: dict[str, dict[str, Any]] = {}
    for voice, pk, title in rows[:MAX_SAMPLED_VIDEOS]:
        passages.setdefault(str(voice), {"job_id": pk, "title": title})
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


def matches_filters(row: dict[str, Any], filters: VoiceListFilters) -> bool:
    voice: VoiceOption = row["voice"]
    text = f"{voice.name} {voice.note}".lower()
    return (
        all(word in text for word in filters.search.lower().split())
        and (not filters.language or filters.language in voice.languages)
        and (not filters.gender or filters.gender == voice.gender)
        and (not filters.sample or row["passage"] is not None)
        and (not filters.favourites or row["is_favourite"])
    )


def sort_voices(rows: list[dict[str, Any]], filters: VoiceListFilters) -> list[dict[str, Any]]:
    def key(row: dict[str, Any]) -> tuple[int, bool, str]:
        name = row["voice"].name.lower()
        if filters.sort == "name":
            return 0, False, name
        return -row["count"].videos, not row["is_favourite"], name

    return sorted(rows, key=key)
