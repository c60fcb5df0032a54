"""The nearest option that is still offered, for a kept one that is gone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from dashboard.studio.kept_settings.kept_option import KeptOption, price_distance

MIN_NAME_SIMILARITY = 0.6  # of SequenceMatcher; below it two names have nothing to do with another
PRICED_FIELDS = ("clip_engine_id", "image_engine_id")
FIELDS_BY_USE = ("genre_id", "voice_id")  # without a near name, what the team used most is taken


@dataclass(frozen=True, slots=True)
class Replacement:
    """`rule` says in a few words why it is the nearest."""

    option: KeptOption
    rule: str = ""


def find_replacement(
    field: str, gone: KeptOption, offered: Sequence[KeptOption], uses: Counter[str]
) -> Replacement | None:
    """Return the nearest option of the same group; None if none is near.

    A voice by language, then gender; an engine by price; a genre by name, then by what the team
    used most (`uses`: drafts by slug); everything else by name. Ties go to the more used one, then
    to the service's order.
    """
    if field == "voice_id":
        return nearest_voice(gone, offered, uses)
    if field in PRICED_FIELDS:
        return nearest_price(gone, offered, uses)
    similar = max(offered, key=lambda one: name_similarity(gone, one), default=None)
    if similar and name_similarity(gone, similar) >= MIN_NAME_SIMILARITY:
        return Replacement(similar, "by name")
    if field in FIELDS_BY_USE and (used := most_used(offered, uses)):
        return Replacement(used, "what the team used most")
    return None


def nearest_voice(
    gone: KeptOption, offered: Sequence[KeptOption], uses: Counter[str]
) -> Replacement | None:
    spoken = spoken_languages(gone)
    same_language = [one for one in offered if spoken & spoken_languages(one)]
    same_gender = [one for one in same_language if gone.gender and one.gender == gone.gender]
    candidates = same_gender or same_language
    if not candidates:
        return None
    nearest = max(candidates, key=lambda one: uses[one.slug])
    return Replacement(nearest, "by language and gender" if same_gender else "by language")


def nearest_price(
    gone: KeptOption, offered: Sequence[KeptOption], uses: Counter[str]
) -> Replacement | None:
    priced = [one for one in offered if price_distance(gone, one).is_finite()]
    if not priced:
        return None
    nearest = min(priced, key=lambda one: (price_distance(gone, one), -uses[one.slug]))
    return Replacement(nearest, "by price")


def most_used(offered: Sequence[KeptOption], uses: Counter[str]) -> KeptOption | None:
    used = [one for one in offered if uses[one.slug]]
    return max(used, key=lambda one: uses[one.slug], default=None)


def spoken_languages(option: KeptOption) -> set[str]:
    """Return the languages of a list such as `English, German`, in lower case."""
    return {part.strip().lower() for part in option.language.split(",") if part.strip()}


def name_similarity(first: KeptOption, second: KeptOption) -> float:
    """Return how alike two names are, from 0 to 1."""
    return SequenceMatcher(None, first.name.lower(), second.name.lower()).ratio()
