"""Name and e-mail address; the password before a dangerous step."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings

from dashboard.shared.http import TeamRequest
from dashboard.shared.recent_password import RecentPasswordForm
from dashboard.shared.team_security import check_new_address_allowed
from dashboard.shared.text_validation import reject_invisible
from proxyapi.refusals import Refusal

PASSWORD_FOR_ADDRESS = "Enter your password to change the e-mail address."  # noqa: S105
NO_MAIL = "This portal sends no e-mail, so the address cannot be confirmed. Ask its operator."


class ProfileForm(RecentPasswordForm):
    """The password is asked only for a new address."""

    name = forms.CharField(
        label="Name", max_length=100, widget=forms.TextInput(attrs={"autocomplete": "name"})
    )
    email = forms.EmailField(
        label="E-mail",
        max_length=254,
        help_text="A new address counts once it is confirmed from there.",
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )

    def __init__(self, request: TeamRequest, data: Any = None) -> None:
        initial = {"name": request.user.name, "email": request.user.email}
        # Forms in dialogs of the page have a name and a password, too.
        super().__init__(request, data, initial=initial, auto_id="profile_%s")
        reject_invisible(self.fields["name"])
        if password := self.fields.get("password"):
            password.required = False
        if not settings.PASSWORD_RESET_BY_EMAIL:
            self.fields["email"].help_text = NO_MAIL

    def clean_email(self) -> str:
        """Return the address in lower case, as addresses are stored."""
        address = str(self.cleaned_data["email"]).lower()
        if address != self.request.user.email and not settings.PASSWORD_RESET_BY_EMAIL:
            raise forms.ValidationError(NO_MAIL)
        if address != self.request.user.email:
            try:
                check_new_address_allowed(self.request.user, address)
            except Refusal as refusal:
                raise forms.ValidationError(refusal.sentence) from None
        return address

    def clean(self) -> dict[str, Any]:
        if not self.has_new_email:
            self.cleaned_data.pop("password", None)
        elif "password" in self.fields and not self.cleaned_data.get("password"):
            self.add_error("password", PASSWORD_FOR_ADDRESS)
            self.cleaned_data.pop("password", None)
        return super().clean()

    @property
    def has_new_email(self) -> bool:
        address = self.cleaned_data.get("email")
        return bool(address) and address != self.request.user.email

    @property
    def shows_password(self) -> bool:
        """Whether the field is shown: it was asked for."""
        return self.is_bound and "password" in self.fields and "password" in self.errors


class ConfirmPasswordForm(RecentPasswordForm):
    """The password alone, before a page that needs it; then it goes on at `next`."""

    next = forms.CharField(widget=forms.HiddenInput, required=False)
