"""An option of the service as it is kept: by slug, with what is needed to name it and to find the
nearest one once it is gone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any, Self

from dashboard.shared.video_options import (
    FacelessOptions,
    clean_option_text,
    option_label,
    option_slug,
)
from dashboard.studio.kept_settings.groups import VOICE_FIELD
from proxyapi.models import Account, Job, JobKind
from proxyapi.upstream import response_parsing


@dataclass(frozen=True, slots=True)
class KeptOption:
    """`price`: of an engine, the lowest credits per second or the multiplier, as text. `account`:
    of a voice clone, the only account that has it (`Account.bucket`)."""

    slug: str
    name: str
    language: str = ""
    gender: str = ""
    price: str = ""
    account: str = ""

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        return cls(**{name: str(stored.get(name) or "") for name in cls.__slots__})

    def to_json(self) -> dict[str, str]:
        return {name: value for name, value in asdict(self).items() if value}


def kept_options(stored: Mapping[str, Any]) -> dict[str, KeptOption]:
    """Return the options of a preset or of a brand kit, by field name."""
    return {field: KeptOption.from_json(option) for field, option in stored.items()}


def keep_option(item: Mapping[str, Any], account: Account | None = None) -> KeptOption | None:
    """Return how an item of the options is kept; None if it has neither slug nor name.

    With an account it may be one of its voice clones, which costs a query.
    """
    slug = option_slug(dict(item))
    if not slug:
        return None
    name = option_label(dict(item))
    return KeptOption(
        slug=slug,
        name=name,
        language=clean_option_text(item.get("language")),
        gender=clean_option_text(item.get("gender")),
        price=lowest_price(item),
        account=account.bucket if account and is_voice_clone(account, name) else "",
    )


def is_voice_clone(account: Account, name: str) -> bool:
    """True if the portal knows a clone of this name; the service lists clones among its voices
    without saying so."""
    clones = Job.objects.filter(account=account, kind=JobKind.CLONE, title=name)
    return clones.exists()


def lowest_price(item: Mapping[str, Any]) -> str:
    """Return an engine's multiplier or its lowest credits per second, as text; empty if none."""
    cost = item.get("cost")
    entries = cost if isinstance(cost, list) else [{"credits_per_second": cost}]
    prices = [
        price
        for entry in entries
        if isinstance(entry, dict)
        and (price := response_parsing.parse_credit_amount(entry.get("credits_per_second")))
    ]
    return f"{min(prices).normalize():f}" if prices else ""


def find_kept_option(
    field: str, kept: KeptOption, account: Account, options: FacelessOptions
) -> dict[str, Any] | None:
    """Return the item that an account offers for a kept option; None if it offers none.

    Of two voices with the same name, that of the same language and gender is the one.
    """
    if kept.account and kept.account != account.bucket:
        return None
    items = options.options_with_slug(field, kept.slug)
    if field == VOICE_FIELD:
        items.sort(key=lambda item: is_other_voice(item, kept))
    return items[0] if items else None


def is_other_voice(item: Mapping[str, Any], kept: KeptOption) -> tuple[bool, bool]:
    return (
        clean_option_text(item.get("language")) != kept.language,
        clean_option_text(item.get("gender")) != kept.gender,
    )


def price_distance(first: KeptOption, second: KeptOption) -> Decimal:
    """Return how far two prices are apart; infinite if one is not known."""
    if not first.price or not second.price:
        return Decimal("Infinity")
    return abs(Decimal(first.price) - Decimal(second.price))
