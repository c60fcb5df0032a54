"""The form for a member's API token. The input is never rendered into a page again."""

from __future__ import annotations

from django import forms

from dashboard.shared.forms import PortalForm
from proxyapi.upstream.secret import Secret

HELP_TEXT = (
    "Find it in your account settings at the service, under API. It is checked with the service, "
    "encrypted and never shown again."
)


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
