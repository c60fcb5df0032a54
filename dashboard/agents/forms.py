"""The consent to an agent, and more credits for one."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

from django import forms
from django.utils import timezone

from dashboard.agents.authorization import ClientRequest
from dashboard.agents.scopes import SCOPE_SENTENCES, grantable_scopes
from dashboard.models import AgentDecision
from dashboard.models.label import MAX_LABEL_NAME_CHARS
from dashboard.shared.formatting import day
from dashboard.shared.forms import VERSION_LABEL, PortalForm
from dashboard.shared.http import TeamRequest
from dashboard.shared.recent_authentication import RecentAuthenticationForm
from dashboard.shared.safe_redirect import safe_return_path
from dashboard.shared.text_validation import reject_invisible
from dashboard.shared.typed_numbers import LIMIT_NOT_A_NUMBER, CreditLimitField
from proxyapi.models import ApiKey
from proxyapi.models.account import amount_text

DEFAULT_CREDITS, DEFAULT_FILM_CREDITS, DEFAULT_DAYS = 50, 25, 7
DAYS = (1, 7, 30, 90)
NO_SCOPE = "Choose at least one: without a right it can do nothing."


class ConsentForm(RecentAuthenticationForm):
    """What an agent may do. `drawn` is the version of what the client says about itself."""

    confirmation_purpose = "to connect an agent"
    scopes = forms.MultipleChoiceField(
        label="It may",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": NO_SCOPE},
    )
    credits = CreditLimitField(
        least=0, label="Credits in all", help_text="Used up, it is paused. You can raise it."
    )
    days = forms.ChoiceField(label="Until")
    charge_limit = CreditLimitField(
        least=0, label="Most for one film", help_text="Above it, it asks a person for approval."
    )
    job_label = forms.CharField(
        label="Label",
        required=False,
        max_length=MAX_LABEL_NAME_CHARS,
        help_text="What it makes gets this label.",
    )
    drawn = forms.CharField(widget=forms.HiddenInput, label=VERSION_LABEL)
    use_required_attribute = False

    def __init__(self, request: TeamRequest, read: ClientRequest, data: Any = None) -> None:
        may = grantable_scopes(request.membership)
        offered = [scope for scope in SCOPE_SENTENCES if scope in may and scope in read.scopes]
        initial = {
            "scopes": offered,
            "credits": DEFAULT_CREDITS,
            "charge_limit": DEFAULT_FILM_CREDITS,
            "days": str(DEFAULT_DAYS),
            "drawn": read.version,
        }
        super().__init__(request, data, initial=initial)
        self.withheld = [scope for scope in read.scopes if scope not in may]
        fields: Any = self.fields
        fields["scopes"].choices = [(scope, SCOPE_SENTENCES[scope]) for scope in offered]
        now = timezone.now()
        fields["days"].choices = [
            (str(days), f"{day(now + timedelta(days=days))}, {days} day{'' if days == 1 else 's'}")
            for days in DAYS
        ]
        fields["credits"].required = True
        fields["credits"].error_messages["required"] = LIMIT_NOT_A_NUMBER.format(least=0)
        fields["charge_limit"].limit = "cr, empty for no limit"
        fields["job_label"].limit = "optional"
        reject_invisible(fields["job_label"])

    @property
    def return_path(self) -> str:
        """With the query: it is the request of the client."""
        return safe_return_path(self.request, self.request.build_absolute_uri())

    def values(self) -> dict[str, Any]:
        """The arguments of `connect_agent`."""
        cleaned = self.cleaned_data
        names = ("scopes", "credits", "charge_limit", "job_label")
        values = {name: cleaned[name] for name in names}
        return {**values, "expires_at": timezone.now() + timedelta(days=int(cleaned["days"]))}


class DecisionForm(PortalForm):
    decision = forms.ChoiceField(
        choices=[it for it in AgentDecision.choices if it[0] != AgentDecision.WITHDRAWN]
    )


class CreditsForm(PortalForm):
    """`drawn` is the allowance that the form was built from."""

    amount = CreditLimitField(label="Credits more")
    drawn = forms.CharField(widget=forms.HiddenInput, label=VERSION_LABEL)

    def __init__(self, agent: ApiKey, data: Any = None) -> None:
        drawn = amount_text(agent.allowance or Decimal(0))
        super().__init__(data, initial={"amount": DEFAULT_CREDITS, "drawn": drawn})
        amount: Any = self.fields["amount"]
        amount.required = True
        amount.error_messages["required"] = LIMIT_NOT_A_NUMBER.format(least=1)

    def with_current_version(self, agent: ApiKey) -> PortalForm:
        data: Any = self.data.copy()  # type: ignore[attr-defined]  # a QueryDict
        data["drawn"] = amount_text(agent.allowance or Decimal(0))
        self.data = data
        return self
