"""The forms of the set-up: the first owner, and the first token."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import get_adapter
from django import forms
from django.conf import settings

from dashboard.instance.teams import MAX_TEAM_NAME_CHARS
from dashboard.members.forms.invitations import MAX_NAME_CHARS
from dashboard.members.forms.team import TimeZoneField
from dashboard.models import User
from dashboard.setup.actions import FirstOwner
from dashboard.shared.forms import AddressField, PortalForm
from dashboard.shared.text_validation import reject_invisible
from dashboard.tokens.forms import TokenForm

CODE_HELP = (
    "Printed in the server’s log at the start, so only somebody with access to the server can do "
    "this."
)
USE_SANDBOX, USE_TOKEN = "sandbox", "token"


class FirstOwnerForm(PortalForm):
    code = forms.CharField(
        label="Set-up code",
        max_length=40,
        help_text=CODE_HELP,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    team = forms.CharField(label="Team", max_length=MAX_TEAM_NAME_CHARS)
    time_zone = TimeZoneField()
    name = forms.CharField(
        label="Your name",
        max_length=MAX_NAME_CHARS,
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
        error_messages={"required": "Enter your name."},
    )
    email = AddressField(
        label="E-mail", widget=forms.EmailInput(attrs={"autocomplete": "username"})
    )
    password = forms.CharField(
        label="Password",
        strip=False,
        max_length=4096,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )

    def __init__(self, data: Any = None) -> None:
        super().__init__(data, initial={"time_zone": settings.TIME_ZONE})
        self.fields["code"].widget.attrs["autofocus"] = True
        self.fields["password"].limit = "10 characters or more"  # type: ignore[attr-defined]
        for name in ("team", "name"):
            reject_invisible(self.fields[name])

    def clean_password(self) -> str:
        password: str = get_adapter().clean_password(
            self.cleaned_data["password"], User(email=self.data.get("email", "")[:254])
        )
        return password

    @property
    def entered(self) -> FirstOwner:
        """Return what a valid form has, without the password."""
        fields = {name: self.cleaned_data[name] for name in FirstOwner.__dataclass_fields__}
        return FirstOwner(**fields)


class FirstTokenForm(TokenForm):
    """`uses`: an account of the sandbox, or the pasted token. Without the sandbox there is no
    choice."""

    def __init__(self, data: Any = None) -> None:
        super().__init__(data)
        if settings.VIDEO_API_IS_SANDBOX:
            choices = [(USE_SANDBOX, "Use the sandbox"), (USE_TOKEN, "Paste a token")]
            self.fields["uses"] = forms.ChoiceField(choices=choices, initial=USE_SANDBOX)
            self.fields["token"].required = not self.uses_sandbox
        self.fields["token"].widget.attrs["autofocus"] = not self.uses_sandbox

    @property
    def uses_sandbox(self) -> bool:
        return "uses" in self.fields and str(self["uses"].value()) == USE_SANDBOX
