"""The form that takes a member's API token. What was typed is never written back into a page."""

from __future__ import annotations

from django import forms

from dashboard.shared.forms import PortalForm
from proxyapi.upstream.secret import Secret

HELP_TEXT = (
    "Find it in your account settings at the service, under API. It is checked with the service, "
    "encrypted and never shown again."
)


class TokenForm(PortalForm):
    # Nothing is checked or stripped here: the field must not judge, quote or shorten a secret.
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
        """Wrapped from here on: no report of an error finds it in a variable on its way."""
        return Secret(self.cleaned_data["token"])
