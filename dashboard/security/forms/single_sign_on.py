"""Forms of a team's single sign-on. The roles of groups are numbered fields, a group and a role
each, so that the dialog that asks for the password keeps them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms import BoundField

from dashboard.models import GROUP_ROLES, MAX_ROLE_GROUPS, SingleSignOn
from dashboard.security.actions.single_sign_on import SingleSignOnSettings
from dashboard.shared.http import TeamRequest
from dashboard.shared.openid.errors import ProviderFailed
from dashboard.shared.openid.provider import load_provider_metadata
from dashboard.shared.recent_authentication import RecentAuthenticationForm
from dashboard.shared.text_validation import reject_invisible
from proxyapi.upstream.secret import Secret

GROUP_FIELD = re.compile(r"group_(\d{1,2})")
ROLE_CHOICES = [(role.value, role.label) for role in GROUP_ROLES]
DEFAULT_CHOICES = [*ROLE_CHOICES, ("", "No access")]
ISSUER_HELP = "Endpoints and keys are read from its discovery document."
GROUP_TWICE = "This group is in the list already."
ADD_ROW, REMOVE_ROW = "add", "remove-"  # values of the buttons `edit`


@dataclass(frozen=True, slots=True)
class GroupRow:
    number: int
    group: BoundField
    role: BoundField

    @property
    def errors(self) -> list[str]:
        return [*self.group.errors, *self.role.errors]


class SingleSignOnForm(RecentAuthenticationForm):
    issuer = forms.CharField(
        label="Issuer",
        max_length=500,
        help_text=ISSUER_HELP,
        error_messages={"required": "Enter the issuer, such as https://login.example.com."},
    )
    client_id = forms.CharField(
        label="Client ID",
        max_length=200,
        error_messages={"required": "Enter the client ID that the provider gave."},
    )
    groups_claim = forms.CharField(
        label="Groups claim",
        max_length=100,
        help_text="What the provider calls the list of a person’s groups.",
        error_messages={"required": "Enter the name of the claim, such as groups."},
    )
    default_role = forms.ChoiceField(
        label="Anyone else",
        required=False,
        choices=DEFAULT_CHOICES,
        widget=forms.Select(attrs={"class": "input--small"}),
    )

    def __init__(
        self,
        request: TeamRequest,
        row: SingleSignOn | None,
        data: Any = None,
        *,
        edited: dict[str, str] | None = None,
    ) -> None:
        """`edited`: values to show that were not sent to be saved."""
        super().__init__(request, data, initial=edited or initial_values(row))
        self.row, self.is_unsaved = row, data is not None or edited is not None
        self.fields["issuer"].limit = "OpenID Connect"  # type: ignore[attr-defined]
        for name in ("issuer", "client_id", "groups_claim"):
            reject_invisible(self.fields[name])
            self.fields[name].widget.attrs |= {"autocomplete": "off", "spellcheck": "false"}
        self.numbers = numbered_rows(data if data is not None else self.initial)
        for number in self.numbers:
            self.add_group_fields(number)

    def add_group_fields(self, number: int) -> None:
        place = self.numbers.index(number) + 1
        attrs = {"aria-label": f"Group {place}", "class": "input--small", "autocomplete": "off"}
        group = forms.CharField(required=False, max_length=200, widget=forms.TextInput(attrs=attrs))
        reject_invisible(group)
        self.fields[f"group_{number}"] = group
        label = {"aria-label": f"Role of group {place}", "class": "input--small"}
        self.fields[f"role_{number}"] = forms.ChoiceField(
            choices=ROLE_CHOICES, widget=forms.Select(attrs=label), initial=GROUP_ROLES[-1]
        )

    @property
    def group_rows(self) -> list[GroupRow]:
        return [GroupRow(n, self[f"group_{n}"], self[f"role_{n}"]) for n in self.numbers]

    def clean_issuer(self) -> str:
        """Read the discovery document of another issuer, so that a wrong one is not saved."""
        issuer: str = self.cleaned_data["issuer"]
        if self.row is None or issuer != self.row.issuer:
            try:
                load_provider_metadata(issuer, fresh=True)
            except ProviderFailed as failure:
                raise ValidationError(failure.sentence) from None
        return issuer

    def clean(self) -> dict[str, Any]:
        seen = set()
        for number in self.numbers:
            group = self.cleaned_data.get(f"group_{number}", "")
            if group and group in seen:
                self.add_error(f"group_{number}", GROUP_TWICE)
            seen.add(group)
        if len(self.numbers) > MAX_ROLE_GROUPS:
            self.add_error(None, f"At most {MAX_ROLE_GROUPS} groups can have a role.")
        return super().clean()

    @property
    def settings(self) -> SingleSignOnSettings:
        """Return the settings of a valid form, without empty rows."""
        cleaned = self.cleaned_data
        rows = [(cleaned[f"group_{n}"], cleaned[f"role_{n}"]) for n in self.numbers]
        return SingleSignOnSettings(
            issuer=cleaned["issuer"],
            client_id=cleaned["client_id"],
            groups_claim=cleaned["groups_claim"],
            default_role=cleaned["default_role"],
            groups=tuple((group, role) for group, role in rows if group),
        )


class ClientSecretForm(RecentAuthenticationForm):
    client_secret = forms.CharField(
        label="New client secret",
        max_length=500,
        widget=forms.PasswordInput(
            attrs={"autocomplete": "off", "spellcheck": "false", "class": "input--code"}
        ),
        error_messages={"required": "Enter the client secret that the provider gave."},
    )
    field_order = ("client_secret", "password")

    def clean_client_secret(self) -> Secret:
        text: str = self.cleaned_data["client_secret"]
        if not text.isprintable():
            raise ValidationError("This contains characters that no secret has. Copy it again.")
        return Secret(text)


class RequirementForm(RecentAuthenticationForm):
    is_required = forms.BooleanField(required=False)


def initial_values(row: SingleSignOn | None) -> dict[str, Any]:
    if row is None:
        return {"groups_claim": "groups", "default_role": "", "group_0": ""}
    names = ("issuer", "client_id", "groups_claim", "default_role")
    values: dict[str, Any] = {name: getattr(row, name) for name in names}
    for number, mapped in enumerate(row.role_groups.order_by("position")):
        values |= {f"group_{number}": mapped.group, f"role_{number}": mapped.role}
    return values


def numbered_rows(names: Any) -> Sequence[int]:
    matches = filter(None, map(GROUP_FIELD.fullmatch, names))
    return sorted(int(match[1]) for match in matches)


def edit_rows(data: dict[str, str], edit: str) -> dict[str, str]:
    """Return the form's values with a row more, or with one removed; nothing is saved."""
    numbers = numbered_rows(data)
    if edit == ADD_ROW and len(numbers) < MAX_ROLE_GROUPS:
        return {**data, f"group_{max(numbers, default=-1) + 1}": ""}
    number = edit.removeprefix(REMOVE_ROW)
    removed = (f"group_{number}", f"role_{number}")
    return {name: value for name, value in data.items() if name not in removed}
