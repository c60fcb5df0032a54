"""The price question before a charge: price, hold and credits left; `ConfirmForm` is its answer.

Each charge that a person confirms is a `PriceQuestion`. `components/price_question.html` renders
those that open as a dialog.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

from django import forms

from dashboard.shared.budget_impact import BudgetImpact
from dashboard.shared.charging import ConfirmAnswer
from dashboard.shared.charts.price_range import PriceRange
from dashboard.shared.forms import PortalForm
from dashboard.shared.second_person import WITHOUT_SECOND_PERSON
from dashboard.shared.start_times import START_TIMES_TEMPLATE, StartTimeForm
from proxyapi.refusals import NOTHING_TO_PAY, CreditCheck, Refusal

HOLD_LABEL = "Held until the exact price is known"
EXACT_HOLD_LABEL = "Held while it is sent"
GUESSED_PRICE_NOTE = "A guess: the service’s price list has “{key}”, which looks like it"
NOTE_HAS_INVISIBLE_CHARACTER = (
    "Your message contains an invisible character. Type it again. Nothing was sent."
)


@dataclass(frozen=True, slots=True)
class AmountRow:
    """A line of the calculation; `kind` is the kind of `{% amount %}`."""

    label: str
    amount: Decimal
    kind: str = "exact"
    note: str = ""
    is_total: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceQuestion:
    """A price question; amounts are credits. Without a price, or with anything `unmet`, it cannot
    be confirmed."""

    label: str  # the button's text: "Render"
    price: Decimal | None
    is_exact: bool = False
    free_uses: int = 0  # used first; the number left is unknown
    title: str = ""  # of the video
    summary: str = ""
    price_note: str = ""
    parts: tuple[AmountRow, ...] = ()  # what the price is the sum of
    credit_check: CreditCheck = NOTHING_TO_PAY
    hold_label: str = ""  # where not all of it is held now
    available_note: str = ""
    budget: BudgetImpact | None = None
    price_range: PriceRange | None = None
    unmet: tuple[str, ...] = ()  # sentences
    heading: str = ""  # instead of the label and the title
    choices_template: str = ""  # fields above the amounts, which the page's context fills
    now_refusals: tuple[str, ...] = ()  # sentences: why it can only start later
    refusal: str = ""  # why the last answer was not accepted
    notice: str = ""
    url: str = ""
    cancel_url: str = ""
    sent_url: str = ""  # page of the charge that was sent meanwhile: nothing to confirm
    hidden_fields: Mapping[str, str] = field(default_factory=dict)
    idempotency_key: UUID = field(default_factory=uuid4)

    @property
    def can_confirm(self) -> bool:
        return self.price is not None and not self.unmet and not self.sent_url

    @property
    def has_button(self) -> bool:
        return not self.sent_url and (self.needs_approval or self.can_confirm)

    @property
    def is_beyond_balance(self) -> bool:
        return self.can_confirm and self.credit_check.is_beyond_balance

    @property
    def hold(self) -> Decimal:
        return self.credit_check.hold

    @property
    def button_price(self) -> Decimal | None:
        """Credits in the button; none in that of what is free."""
        return self.price or None

    @property
    def needs_approval(self) -> bool:
        """True if a budget refuses it, so that only an approval can be requested."""
        return self.can_confirm and self.budget is not None and bool(self.budget.refusal)

    @property
    def may_wait(self) -> bool:
        """True if it may also start later, when the budget that refuses it now has room."""
        is_of_budget = self.budget is not None and self.budget.label != WITHOUT_SECOND_PERSON
        has_times = self.choices_template == START_TIMES_TEMPLATE
        return self.needs_approval and is_of_budget and has_times

    @property
    def rows(self) -> Iterator[AmountRow]:
        """The remaining amounts are minimums, because the hold is an upper bound of the price."""
        if self.price is None:
            return
        if not self.price and not self.hold:
            yield AmountRow("Price", self.price, "free", note=self.price_note)
            return
        yield from self.parts
        if self.is_exact:
            yield AmountRow("Price", self.price, note=self.price_note)
        else:
            total = "Total estimate" if self.parts else "Estimate"
            yield AmountRow(total, self.price, "about", self.price_note, is_total=bool(self.parts))
        is_certain = self.is_exact and not self.free_uses
        hold_label = self.hold_label or (EXACT_HOLD_LABEL if is_certain else HOLD_LABEL)
        yield AmountRow(hold_label, self.hold, "held")
        available = self.credit_check.available
        yield AmountRow("Free to spend", available, note=self.available_note)
        if (remaining := available - self.hold) >= 0:
            yield AmountRow("Left on the account, at least", remaining, is_total=True)
        if self.budget is not None:
            yield AmountRow(self.budget.label, self.budget.left, note=self.budget.note)
            if not self.budget.refusal:
                yield AmountRow("Left of the budget, at least", self.budget.after, is_total=True)


class ConfirmForm(PortalForm):
    """The idempotency key, the price that was shown, and a message if approval is requested."""

    hidden_field_names = {"nonce": "the form key", "price": "the price"}
    nonce = forms.UUIDField(widget=forms.HiddenInput)
    price = forms.DecimalField(max_digits=14)
    note = forms.CharField(
        required=False, error_messages={"null_characters_not_allowed": NOTE_HAS_INVISIBLE_CHARACTER}
    )

    @property
    def idempotency_key(self) -> UUID:
        """Return the submitted key, or a new one: a form without its key charges nothing."""
        return getattr(self, "cleaned_data", {}).get("nonce") or uuid4()

    def charge_arguments(self) -> dict[str, Any]:
        """Return key, shown price and message as arguments for actions. Raises `Refusal` if the
        form is invalid."""
        if not self.is_valid():
            raise Refusal(self.first_error())
        note = self.cleaned_data["note"] if "ask" in self.data else None
        return {
            "nonce": self.cleaned_data["nonce"],
            "seen": self.cleaned_data["price"],
            "answer": ConfirmAnswer(note, beyond_balance="anyway" in self.data),
        }


class StartConfirmForm(StartTimeForm, ConfirmForm):
    """With when it starts; the fields are those of `START_TIMES_TEMPLATE`."""

    def charge_arguments(self) -> dict[str, Any]:
        """`start` is None for now."""
        return {**super().charge_arguments(), "start": self.start_time()}
