"""The forms for a member's API token, whose value is never rendered into a page again, and for its
name."""

from __future__ import annotations

from typing import Any

from django import forms

from dashboard.shared.forms import PortalForm
from dashboard.shared.text_validation import reject_invisible
from proxyapi.models import Token
from proxyapi.upstream.secret import Secret

HELP_TEXT = (
    "Find it in your account settings at the service, under API. It is checked with the service, "
    "encrypted and never shown again."
)

MAX_NAME_CHARS = Token._meta.get_field("name").max_length or 0


class TokenForm(PortalForm):
    # No validation and no stripping: the field must not quote or change a secret.
    token = forms.CharField(
        label="API token",
        help_text=HELP_TEXT,
        strip=False,
        error_messages={"required": "Paste your token here."},
        widget=forms.PasswordInput(
            render_value=False,
            attrs={"autocomplete": "off", "spellcheck": "false", "autocapitalize": "off"},
        ),
    )

    def clean_token(self) -> Secret:
        """Wrap the value, so that no error report finds it in a variable."""
        return Secret(self.cleaned_data["token"])


class TokenNameField(forms.CharField):
    def __init__(self) -> None:
        super().__init__(
            label="Name",
            required=False,
            max_length=MAX_NAME_CHARS,
            help_text="What it is for, such as “Night renders”.",
            widget=forms.TextInput(attrs={"autocomplete": "off"}),
        )
        self.limit = f"optional, {MAX_NAME_CHARS} characters"
        reject_invisible(self)


class AddTokenForm(TokenForm):
    name = TokenNameField()


class TokenNameForm(PortalForm):
    name = TokenNameField()

    def __init__(self, token: Token, data: Any = None) -> None:
        super().__init__(data, initial={"name": token.name})
