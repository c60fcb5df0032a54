"""The slots of an account for cloned voices, in words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from django.urls import reverse

from dashboard.shared.formatting import clock, credits
from dashboard.voices.clone_settings import CloneSettings
from proxyapi.models import Account, VoiceSlots

FREE = Decimal(0)
NOT_READ = "The slots were not read yet."
READING = "The slots are being read."
UNREADABLE = "The service did not say how many slots are free."
NONE_FOR_SALE = "No slot is free and the plan sells no more."
NEXT_IS_FREE = "The next voice uses a free slot."


@dataclass(frozen=True, slots=True)
class SlotsCard:
    """`available`, `can_buy` and `cost` (credits) are None as long as they are not known."""

    account_id: UUID
    available: int | None
    can_buy: bool | None
    cost: Decimal | None
    read_at: datetime | None
    error: str
    is_reading: bool

    @property
    def url(self) -> str:
        return reverse("voice-slots", args=[self.account_id])

    @property
    def is_known(self) -> bool:
        return self.available is not None

    @property
    def headline(self) -> str:
        if self.available is None:
            return ""
        return f"{self.available} free" if self.available else "None free"

    @property
    def sells(self) -> bool:
        """Whether another slot can be bought now, at a known price."""
        return self.available == 0 and self.can_buy is not False and self.cost is not None

    @property
    def text(self) -> str:
        """What the next voice will use."""
        if self.available is None:
            waiting = READING if self.is_reading else NOT_READ
            return waiting if self.read_at is None else UNREADABLE
        price = f"Another costs {credits(self.cost)} cr." if self.cost is not None else ""
        if self.available:
            when = price.replace("Another", "When none is free, another")
            return f"{NEXT_IS_FREE} {when if self.can_buy is not False else ''}".strip()
        if self.can_buy is False:
            return NONE_FOR_SALE
        return f"{price} It is bought together with a voice.".strip()

    @property
    def checked_text(self) -> str:
        return f"checked {clock(self.read_at)}" if self.read_at else ""


def load_slots_card(account: Account) -> SlotsCard:
    """One query."""
    row = VoiceSlots.objects.filter(account=account).first() or VoiceSlots(account=account)
    return SlotsCard(
        account_id=account.pk,
        available=row.available,
        can_buy=row.can_buy,
        cost=row.cost,
        read_at=row.read_at,
        error=row.read_error,
        is_reading=row.due_at is not None,
    )


def clone_price(chosen: CloneSettings, slots: SlotsCard) -> Decimal | None:
    """Credits of the voice: of the slot that is bought with it, else none."""
    if slots.available:
        return FREE
    return slots.cost if slots.sells and chosen.buys_slot else None
