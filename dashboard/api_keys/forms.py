"""Forms of API keys: a new one, its settings, its limits alone, a rotation, the end."""

from __future__ import annotations

from datetime import timedelta
from ipaddress import ip_network
from typing import Any

from django import forms
from django.utils import timezone

from dashboard.api_keys.actions import LIMIT_FIELDS, settings_version
from dashboard.models import Membership
from dashboard.shared.formatting import day
from dashboard.shared.forms import VERSION_LABEL, PortalForm
from dashboard.shared.http import TeamRequest
from dashboard.shared.recent_authentication import RecentAuthenticationForm
from dashboard.shared.text_validation import MAX_REASON_CHARS, reject_invisible
from dashboard.shared.typed_numbers import CreditLimitField, TypedNumberField, limit_input_value
from proxyapi.models import ApiKey, KeyScope, Token

SCOPE_SENTENCES = {
    KeyScope.READ: "Videos, options, costs and prices. Free.",
    KeyScope.CREATE: "Drafts, settings and uploads. Free.",
    KeyScope.RENDER: "Scripts, renders, clips, exports and ideas. Charges credits.",
    KeyScope.CREDITS: "Balance, ledger and auto top-up.",
    KeyScope.REPORTS: "Usage, ledger, budgets and audit log. Free.",
}
USUAL_SCOPES = (KeyScope.READ, KeyScope.CREATE, KeyScope.RENDER)
MAX_REQUESTS_PER_MINUTE, MAX_NETWORKS = 1000, 50
REQUESTS_OUT_OF_RANGE = f"Enter a whole number from 1 to {MAX_REQUESTS_PER_MINUTE:,}."
BAD_NETWORK = "Line {line} is not an IP address or range, such as 203.0.113.0/24 or 2001:db8::/32."
TOO_MANY_NETWORKS = f"At most {MAX_NETWORKS} lines are allowed."
NO_SCOPE = "Choose at least one: without a scope it can do nothing."
BEST_TOKEN_LABEL, KEEP_EXPIRY = "My best token", "keep"
DAYS_TO_EXPIRY = (30, 90, 365)
GRACES = {
    "24h": ("24 hours", timedelta(hours=24)),
    "1h": ("1 hour", timedelta(hours=1)),
    "7d": ("7 days", timedelta(days=7)),
    "none": ("Not at all", timedelta(0)),
}


class KeyLimitsForm(PortalForm):
    """The credit limits; `drawn` is the version of the key that the form was built from."""

    daily_limit = CreditLimitField(least=0, label="Credits a day")
    monthly_limit = CreditLimitField(
        least=0,
        label="Credits a month",
        help_text="Held credits count. Above a limit each charge waits for an approval.",
    )
    drawn = forms.CharField(widget=forms.HiddenInput, required=False, label=VERSION_LABEL)
    use_required_attribute = False

    def with_current_version(self, key: ApiKey) -> PortalForm:
        """The submitted values on top of the current key, so that saving again applies them."""
        data: Any = self.data.copy()  # type: ignore[attr-defined]  # a QueryDict
        data["drawn"] = settings_version(key)
        self.data = data
        return self


class LowerLimitsForm(KeyLimitsForm):
    """For who may not change anything else of a key."""

    def __init__(self, key: ApiKey, data: Any = None) -> None:
        super().__init__(data, initial=limits_of(key))

    def values(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in LIMIT_FIELDS}


class KeySettingsForm(KeyLimitsForm):
    name = forms.CharField(
        label="Name",
        max_length=60,
        help_text="Shown beside what it makes and spends.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    token = forms.ChoiceField(label="Runs on", required=False)
    scopes = forms.MultipleChoiceField(
        label="Scopes",
        choices=SCOPE_SENTENCES.items(),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": NO_SCOPE},
    )
    requests_per_minute = TypedNumberField(
        REQUESTS_OUT_OF_RANGE,
        label="Requests a minute",
        required=False,
        min_value=1,
        max_value=MAX_REQUESTS_PER_MINUTE,
        help_text="Of those of the token it runs on.",
    )
    expires = forms.ChoiceField(label="Expires", required=False)
    networks = forms.CharField(
        label="IP addresses and ranges",
        required=False,
        max_length=4000,
        help_text="It is accepted from these alone. Empty: from everywhere.",
        widget=forms.Textarea(attrs={"rows": 2, "class": "input--code", "spellcheck": "false"}),
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        reject_invisible(self.fields["name"])
        self.fields["networks"].limit = "optional, one a line"  # type: ignore[attr-defined]

    def offer(self, tokens: list[Token], expiries: dict[str, str]) -> None:
        """Fill the two selects. `tokens` are the usable ones of the key's owner, best first."""
        self.tokens = {str(token.pk): token for token in tokens}
        labels = [(pk, token_label(token)) for pk, token in self.tokens.items()]
        self.fields["token"].choices = [("", BEST_TOKEN_LABEL), *labels]  # type: ignore[attr-defined]
        self.fields["expires"].choices = list(expiries.items())  # type: ignore[attr-defined]

    def clean_networks(self) -> list[str]:
        networks = []
        for number, line in enumerate(self.cleaned_data["networks"].splitlines(), 1):
            if text := line.strip():
                try:
                    networks.append(str(ip_network(text, strict=False)))
                except ValueError:
                    raise forms.ValidationError(BAD_NETWORK.format(line=number)) from None
        if len(networks) > MAX_NETWORKS:
            raise forms.ValidationError(TOO_MANY_NETWORKS)
        return list(dict.fromkeys(networks))

    def clean_requests_per_minute(self) -> int | None:
        number = self.cleaned_data["requests_per_minute"]
        return None if number is None else int(number)

    def values(self) -> dict[str, Any]:
        """The fields of the key."""
        cleaned = self.cleaned_data
        values = {name: cleaned[name] for name in (*LIMIT_FIELDS, "name", "networks")}
        values |= {
            "scopes": sorted(cleaned["scopes"]),
            "token": self.tokens.get(cleaned["token"]),
            "requests_per_minute": cleaned["requests_per_minute"],
        }
        if cleaned["expires"] != KEEP_EXPIRY:
            days = cleaned["expires"]
            values["expires_at"] = timezone.now() + timedelta(days=int(days)) if days else None
        return values


class NewKeyForm(RecentAuthenticationForm, KeySettingsForm):
    """A new key; it asks people to confirm that it is them."""

    confirmation_purpose = "to create an API key"

    def __init__(self, request: TeamRequest, tokens: list[Token], data: Any = None) -> None:
        super().__init__(request, data, initial={"scopes": USUAL_SCOPES, "expires": "90"})
        self.offer(tokens, expiry_labels())


class EditKeyForm(KeySettingsForm):
    def __init__(self, key: ApiKey, tokens: list[Token], data: Any = None) -> None:
        initial = {
            **limits_of(key),
            "name": key.name,
            "token": str(key.token_id or ""),
            "scopes": key.scopes,
            "requests_per_minute": key.requests_per_minute,
            "networks": "\n".join(key.networks),
            "expires": KEEP_EXPIRY,
        }
        super().__init__(data, initial=initial)
        now = f"On {day(key.expires_at)}" if key.expires_at else "Never"
        rest = {days: text for days, text in expiry_labels().items() if days or key.expires_at}
        self.offer(tokens, {KEEP_EXPIRY: now, **rest})


class RotateKeyForm(RecentAuthenticationForm):
    confirmation_purpose = "to rotate the key"
    grace = forms.ChoiceField(
        choices=[(value, label) for value, (label, _) in GRACES.items()], initial="24h"
    )
    last_four = forms.CharField(widget=forms.HiddenInput, label=VERSION_LABEL)

    def __init__(self, request: TeamRequest, key: ApiKey, data: Any = None) -> None:
        super().__init__(request, data, initial={"last_four": key.last_four})

    def graces(self) -> list[dict[str, Any]]:
        """The choices with when the old value ends."""
        now, chosen = timezone.now(), self["grace"].value()
        return [
            {"value": value, "label": label, "until": now + grace, "chosen": value == chosen}
            for value, (label, grace) in GRACES.items()
        ]


class RevokeKeyForm(RecentAuthenticationForm):
    confirmation_purpose = "to revoke the key"
    reason = forms.CharField(label="Reason", required=False, max_length=MAX_REASON_CHARS)

    def __init__(self, request: TeamRequest, data: Any = None) -> None:
        super().__init__(request, data)
        reject_invisible(self.fields["reason"])
        self.fields["reason"].limit = "optional, for the audit log"  # type: ignore[attr-defined]


def load_usable_tokens(member: Membership, owner_id: int) -> list[Token]:
    """Return the tokens that a key of this owner can run on, best first. One query."""
    tokens = Token.objects.usable().filter(tenant=member.team.tenant_id, owner=owner_id)
    return list(tokens.select_related("account").best_first())


def token_label(token: Token) -> str:
    name = f"{token.name}, " if token.name else ""
    return f"{name}token …{token.last_four}, {token.account.label}"


def expiry_labels() -> dict[str, str]:
    now = timezone.now()
    dated = {
        str(days): f"In {days} days, {day(now + timedelta(days=days))}" for days in DAYS_TO_EXPIRY
    }
    return {**dated, "": "Never"}


def limits_of(key: ApiKey) -> dict[str, str]:
    limits = {name: limit_input_value(getattr(key, name)) for name in LIMIT_FIELDS}
    return {**limits, "drawn": settings_version(key)}
