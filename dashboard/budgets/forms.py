"""Forms of budgets and approval requests. Limits are whole credits."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Self

from django import forms

from dashboard.budgets.actions.approvals import DECLINE_REASON_REQUIRED
from dashboard.budgets.queries import ApprovalConfirmation
from dashboard.models import MAX_APPROVAL_COMMENT_CHARS, Budget, BudgetPeriod, NewMemberBudget, Team
from dashboard.shared.forms import VERSION_LABEL, PortalForm, ReasonField
from dashboard.shared.text_validation import reject_invisible
from dashboard.shared.typed_numbers import CreditLimitField, limit_input_value
from proxyapi.models.account import amount_text

WHOLE_TEAM = "team"
REFUSAL_BELOW_ALERT = "It must not be below the alert: {soft:,.0f}."
UNTIL_MISSING = "Enter a date and a time, such as 2026-11-27 18:00."
LIMIT_MISSING = "Set at least one of the two."
PERIOD_CHOICES = [
    (BudgetPeriod.DAY, "A day"),
    (BudgetPeriod.WEEK, "Week, from Monday"),
    (BudgetPeriod.MONTH, "A month"),
]


class BudgetLimitsForm(PortalForm):
    """The two limits of a budget; `drawn` is the version of the limits that the form was built
    from."""

    hard = CreditLimitField(
        least=0,
        label="Limit",
        help_text="Requests that would exceed it are refused. With 0 no charges are allowed.",
    )
    soft = CreditLimitField(
        label="Alert at", help_text="One alert per period. Leave empty for no alert."
    )
    drawn = forms.CharField(widget=forms.HiddenInput, required=False, label=VERSION_LABEL)

    def __init__(self, data: Any = None, budget: Budget | None = None) -> None:
        limits = (
            {"hard": limit_input_value(budget.hard), "soft": limit_input_value(budget.soft)}
            if budget
            else {}
        )
        version = {"drawn": budget.limits_version} if budget else {}
        super().__init__(data, initial={**limits, **version}, use_required_attribute=False)

    def clean(self) -> dict[str, Any]:
        soft, hard = self.cleaned_data.get("soft"), self.cleaned_data.get("hard")
        if not self.errors and soft is None and hard is None:
            self.add_error("hard", LIMIT_MISSING)
        if soft is not None and hard is not None and hard < soft:
            self.add_error("hard", REFUSAL_BELOW_ALERT.format(soft=soft))
        return self.cleaned_data

    def with_current_version(self, budget: Budget) -> BudgetLimitsForm:
        """The submitted values on top of the current budget, so that saving again applies them."""
        data = {name: self.data.get(name, "") for name in self.fields}
        return BudgetLimitsForm({**data, "drawn": budget.limits_version}, budget)

    def limits(self) -> dict[str, Decimal | None]:
        return {name: self.cleaned_data[name] for name in ("soft", "hard")}


class NewBudgetForm(BudgetLimitsForm):
    """A new budget for a member, a label or the whole team."""

    who = forms.ChoiceField(label="For")
    period = forms.ChoiceField(label="In", choices=PERIOD_CHOICES, initial=BudgetPeriod.MONTH)
    field_order = ("who", "period", "hard", "soft")

    def __init__(self, team: Team, data: Any = None) -> None:
        super().__init__(data)
        rows = team.memberships.select_related("user")
        self.members = {str(row.user_id): row.user for row in rows}
        self.labels = {str(label.pk): label for label in team.labels.all()}
        names = [(key, str(user)) for key, user in self.members.items()]
        labels = [(key, f"The label {label.name}") for key, label in self.labels.items()]
        who_field = self.fields["who"]
        assert isinstance(who_field, forms.ChoiceField)  # noqa: S101 - declared above
        who_field.choices = [(WHOLE_TEAM, "The whole team"), *names, *labels]

    @property
    def subject(self) -> dict[str, Any]:
        """Whose budget it is, as the action takes it."""
        who = self.cleaned_data["who"]
        return {"member": self.members.get(who), "label": self.labels.get(who)}


class RaiseForm(PortalForm):
    """A raise of a limit for a time; the time is that of the team's zone."""

    amount = CreditLimitField(label="Raise by")
    until = forms.DateTimeField(
        label="Until",
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
        error_messages={"required": UNTIL_MISSING, "invalid": UNTIL_MISSING},
    )
    drawn = forms.CharField(widget=forms.HiddenInput, required=False, label=VERSION_LABEL)

    def __init__(self, data: Any = None, budget: Budget | None = None) -> None:
        now = (
            {
                "amount": limit_input_value(budget.raise_amount),
                "until": budget.raise_until,
                "drawn": budget.limits_version,
            }
            if budget
            else {}
        )
        super().__init__(data, initial=now, use_required_attribute=False)
        self.fields["amount"].required = True

    def with_current_version(self, budget: Budget) -> RaiseForm:
        """The submitted values on top of the current budget, so that saving again applies them."""
        data = {name: self.data.get(name, "") for name in self.fields}
        return RaiseForm({**data, "drawn": budget.limits_version}, budget)


class NewMemberBudgetForm(BudgetLimitsForm):
    """The budget of members who join; the button "Remove" sends `remove` instead."""

    period = forms.ChoiceField(label="In", choices=PERIOD_CHOICES, initial=BudgetPeriod.MONTH)
    field_order = ("period", "hard", "soft")

    def __init__(self, data: Any = None, default: NewMemberBudget | None = None) -> None:
        super().__init__(data)
        if default is not None:
            limits = {name: limit_input_value(getattr(default, name)) for name in ("soft", "hard")}
            version = {"drawn": default.limits_version, "period": default.period}
            self.initial.update({**limits, **version})

    @property
    def is_removal(self) -> bool:
        return "remove" in self.data

    def clean(self) -> dict[str, Any]:
        if not self.is_removal:
            return super().clean()
        for name in ("period", "soft", "hard"):
            self.errors.pop(name, None)
        return {"drawn": self.cleaned_data["drawn"], "period": None, "soft": None, "hard": None}

    def with_default(self, default: NewMemberBudget | None) -> NewMemberBudgetForm:
        """The submitted values on top of what is saved now."""
        data = {name: self.data.get(name, "") for name in self.fields}
        version = default.limits_version if default else ""
        return NewMemberBudgetForm({**data, "drawn": version}, default)


class SecondPersonForm(PortalForm):
    """The amount of the second-person rule; the button "Remove rule" sends `remove` instead."""

    above = CreditLimitField(
        label="Charges above",
        help_text="The held amount counts, the upper bound of the price. Automatic top-ups are "
        "not charges of a member.",
    )
    drawn = forms.CharField(widget=forms.HiddenInput, required=False, label=VERSION_LABEL)

    def __init__(self, data: Any = None, above: Decimal | None = None) -> None:
        version = "" if above is None else amount_text(above)
        initial = {"above": limit_input_value(above), "drawn": version}
        super().__init__(data, initial=initial, use_required_attribute=False)

    @property
    def is_removal(self) -> bool:
        return "remove" in self.data

    def clean(self) -> dict[str, Any]:
        if self.is_removal:
            self.errors.pop("above", None)
        elif not self.errors and self.cleaned_data.get("above") is None:
            self.add_error("above", self.fields["above"].error_messages["required"])
        return self.cleaned_data

    def rule(self) -> dict[str, Any]:
        """The arguments of the action."""
        above = None if self.is_removal else self.cleaned_data["above"]
        return {"above": above, "drawn": self.cleaned_data["drawn"]}

    def with_current_version(self, above: Decimal | None) -> SecondPersonForm:
        """The submitted amount on top of the current rule, so that saving again applies it."""
        version = "" if above is None else amount_text(above)
        return SecondPersonForm({"above": self.data.get("above", ""), "drawn": version}, above)


class CommentForm(PortalForm):
    text = forms.CharField(
        label="Comment",
        max_length=MAX_APPROVAL_COMMENT_CHARS,
        widget=forms.Textarea(attrs={"rows": 3}),
        error_messages={"required": "Enter a comment."},
    )

    def __init__(self, data: Any = None) -> None:
        super().__init__(data)
        limit = f"{MAX_APPROVAL_COMMENT_CHARS:,} characters"
        self.fields["text"].limit = limit  # type: ignore[attr-defined]
        reject_invisible(self.fields["text"], lines=True)


class DeclineForm(PortalForm):
    answer = ReasonField(
        label="Reason",
        required=DECLINE_REASON_REQUIRED,
        help_text="One sentence. It is shown with the video to the whole team.",
        widget=forms.Textarea(attrs={"rows": 2}),
    )


class ApprovalForm(PortalForm):
    """Approve once or raise the limit; `drawn` is the version of the blocking budgets that were
    shown."""

    # If no budget blocks the request any more, the dialog shows neither field.
    how = forms.ChoiceField(
        choices=[("once", "Approve once"), ("raise", "Raise")], initial="once", required=False
    )
    hard = CreditLimitField(label="New limit")
    drawn = forms.CharField(widget=forms.HiddenInput, required=False, label=VERSION_LABEL)

    def __init__(self, data: Any, answer: ApprovalConfirmation) -> None:
        initial = {"hard": answer.required_limit, "drawn": answer.drawn}
        super().__init__(data, initial=initial, use_required_attribute=False)

    def with_current_version(self, answer: ApprovalConfirmation) -> Self:
        """The same choice for the current blocking budgets; a limit typed for another budget is
        dropped."""
        typed_limit, drawn = self.data.get("hard", ""), self.data.get("drawn", "")
        is_same_budget = budget_ids_of_version(drawn) == budget_ids_of_version(answer.drawn)
        hard = typed_limit if is_same_budget else answer.required_limit
        data = {"how": self.data.get("how", ""), "hard": hard, "drawn": answer.drawn}
        return type(self)(data, answer)

    def clean(self) -> dict[str, Any]:
        is_raise = self.cleaned_data.get("how") == "raise"
        if is_raise and self.cleaned_data.get("hard") is None and "hard" not in self.errors:
            self.add_error("hard", self.fields["hard"].error_messages["required"])
        if not is_raise:
            self.errors.pop("hard", None)
            self.cleaned_data["hard"] = None
        return self.cleaned_data


def budget_ids_of_version(drawn: str) -> list[str]:
    """The ids of the budgets in a version, without their limits."""
    return [budget_version.partition("/")[0] for budget_version in drawn.split(" ")]
