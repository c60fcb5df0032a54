"""Forms of budgets and of what is answered to an ask. Limits are whole credits."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Self

from django import forms

from dashboard.forms.plain import VERSION, PlainForm
from dashboard.models import Budget, Period, Team, User
from dashboard.queries.budgets import Answer

MOST = 9_999_999
TEAM = "team"
NUMBER = "A limit is a whole number of credits, from 1 to 9,999,999."
TURNED = "It is not below the alert: {soft:,.0f}."
NO_LIMIT = "Set one of the two."
PERIODS = [(Period.DAY, "A day"), (Period.WEEK, "A week, from Monday"), (Period.MONTH, "A month")]


class Limit(forms.DecimalField):
    """Credits. `limit` stands at the label's end."""

    def __init__(self, limit: str = "cr", **kwargs: Any) -> None:
        errors = dict.fromkeys(("invalid", "min_value", "max_value", "max_decimal_places"), NUMBER)
        attrs = {"step": "1", "inputmode": "numeric"}
        super().__init__(
            **{"required": False, "min_value": 1, "max_value": MOST, "decimal_places": 0, **kwargs},
            error_messages={**errors, "required": NUMBER},
            widget=forms.NumberInput(attrs=attrs),
        )
        self.limit = limit


class LimitsForm(PlainForm):
    """The two limits of a budget; `drawn` are those the form was drawn with."""

    hard = Limit(label="Refuse above", help_text="Nothing is sent that would go over it.")
    soft = Limit(label="Warn from", help_text="An alert, once in each period. Empty: no alert.")
    drawn = forms.CharField(widget=forms.HiddenInput, required=False, label=VERSION)

    def __init__(self, data: Any = None, budget: Budget | None = None) -> None:
        first = {"hard": whole(budget.hard), "soft": whole(budget.soft)} if budget else {}
        drawn = {"drawn": budget.in_a_word} if budget else {}
        super().__init__(data, initial={**first, **drawn}, use_required_attribute=False)

    def clean(self) -> dict[str, Any]:
        soft, hard = self.cleaned_data.get("soft"), self.cleaned_data.get("hard")
        if not self.errors and soft is None and hard is None:
            self.add_error("hard", NO_LIMIT)
        if soft is not None and hard is not None and hard < soft:
            self.add_error("hard", TURNED.format(soft=soft))
        return self.cleaned_data

    def redrawn(self, budget: Budget) -> LimitsForm:
        """The same answers on top of the budget as it is now: a second save means it."""
        data = {name: self.data.get(name, "") for name in self.fields}
        return LimitsForm({**data, "drawn": budget.in_a_word}, budget)

    def limits(self) -> dict[str, Decimal | None]:
        return {name: self.cleaned_data[name] for name in ("soft", "hard")}


class BudgetForm(LimitsForm):
    """A new budget, for a member of the team or for all of it."""

    who = forms.ChoiceField(label="For")
    period = forms.ChoiceField(label="In", choices=PERIODS, initial=Period.MONTH)
    field_order = ("who", "period", "hard", "soft")

    def __init__(self, team: Team, data: Any = None) -> None:
        super().__init__(data)
        rows = team.memberships.select_related("user")
        self.members = {str(row.user_id): row.user for row in rows}
        names = [(key, str(user)) for key, user in self.members.items()]
        who = self.fields["who"]
        assert isinstance(who, forms.ChoiceField)  # noqa: S101 - declared above
        who.choices = [(TEAM, "The whole team"), *names]

    @property
    def member(self) -> User | None:
        return self.members.get(self.cleaned_data["who"])


class ApprovalForm(PlainForm):
    """Once, or with a higher limit from now on; `drawn`: the budgets that were shown in the way."""

    # With room for it by now, the dialog asks neither.
    how = forms.ChoiceField(
        choices=[("once", "This once"), ("raise", "Raise")], initial="once", required=False
    )
    hard = Limit(label="New limit")
    drawn = forms.CharField(widget=forms.HiddenInput, required=False, label=VERSION)

    def __init__(self, data: Any, answer: Answer) -> None:
        initial = {"hard": answer.raised, "drawn": answer.drawn}
        super().__init__(data, initial=initial, use_required_attribute=False)

    def redrawn(self, answer: Answer) -> Self:
        """The same choice on top of what is in the way now; a limit typed for another is not."""
        typed, drawn = self.data.get("hard", ""), self.data.get("drawn", "")
        same = keys(drawn) == keys(answer.drawn)
        hard = typed if same else answer.raised
        fresh = {"how": self.data.get("how", ""), "hard": hard, "drawn": answer.drawn}
        return type(self)(fresh, answer)

    def clean(self) -> dict[str, Any]:
        raising = self.cleaned_data.get("how") == "raise"
        if raising and self.cleaned_data.get("hard") is None and "hard" not in self.errors:
            self.add_error("hard", NUMBER)
        if not raising:
            self.errors.pop("hard", None)
            self.cleaned_data["hard"] = None
        return self.cleaned_data


def keys(drawn: str) -> list[str]:
    """Which budgets a form was drawn with, whatever their limits."""
    return [one.partition("/")[0] for one in drawn.split(" ")]


def whole(limit: Decimal | None) -> str:
    return "" if limit is None else f"{limit.normalize():f}"
