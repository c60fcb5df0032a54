"""The cost map of an account as a list: what a use costs, and how many are free (spec, Credit cost
map). Its keys are not shown in the spec: known ones have names, others are told as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from proxyapi.upstream import response_parsing

COST_KEY_NAMES = {
    "CONTENT_PROMPT_REQUESTED": "Script",
    "IDEA_DISCOVERY": "Idea search",
    "IDEAS_DISCOVER": "Idea search",
    "CHARACTER_TRAIN": "Character training",
    "CHARACTER_TRAINING": "Character training",
    "CHARACTER_PREVIEW": "Character preview",
    "VOICE_CLONE_SLOT": "Voice clone slot",
}


@dataclass(frozen=True, slots=True)
class ListPrice:
    """`credits` per use; None where the service's word cannot be read. `free` uses come first."""

    name: str
    key: str
    credits: Decimal | None
    free: int


def build_list_prices(costs: Mapping[str, object]) -> Iterator[ListPrice]:
    """In the order of their names, whatever case the keys are in (pitfall 59)."""
    found = []
    for key, value in costs.items():
        row = response_parsing.as_mapping(value)
        free = response_parsing.parse_credit_amount(row.get("free"))
        found.append(
            ListPrice(
                cost_key_name(key),
                key,
                response_parsing.parse_credit_amount(row.get("credits")),
                int(free) if free else 0,
            )
        )
    yield from sorted(found, key=lambda price: price.name.casefold())


def cost_key_name(key: str) -> str:
    words = re.split(r"[\s_-]+", key.strip(" _-").capitalize())
    return COST_KEY_NAMES.get(key.upper()) or " ".join(
        "AI" if it in ("Ai", "ai") else it for it in words
    )
