"""Name and e-mail address; the confirmation before a dangerous step."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.urls import reverse

from dashboard.shared.forms import AddressField
from dashboard.shared.http import TeamRequest
from dashboard.shared.openid.confirmation import CONFIRMED
from dashboard.shared.openid.session_teams import account_change_obstacle
from dashboard.shared.recent_authentication import RecentAuthenticationForm
from dashboard.shared.safe_redirect import safe_return_path
from dashboard.shared.team_security import check_new_address_allowed
from dashboard.shared.text_validation import reject_invisible
from proxyapi.refusals import Refusal

NO_MAIL = "This portal sends no e-mail, so the address cannot be confirmed. Ask its operator."


class ProfileForm(RecentAuthenticationForm):
    """Only a new address has to be confirmed."""

    confirmation_purpose = "to change the e-mail address"

    name = forms.CharField(
        label="Name", max_length=100, widget=forms.TextInput(attrs={"autocomplete": "name"})
    )
    email = AddressField(
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
        if not settings.PASSWORD_RESET_BY_EMAIL:
            self.fields["email"].help_text = NO_MAIL
        if account_change_obstacle(request.session, request.user.pk):
            for name in ("name", "email"):
                self.fields[name].disabled = True

    def clean_email(self) -> str:
        address: str = self.cleaned_data["email"]
        if address != self.request.user.email and not settings.PASSWORD_RESET_BY_EMAIL:
            raise forms.ValidationError(NO_MAIL)
        if address != self.request.user.email:
            try:
                check_new_address_allowed(self.request.user, address)
            except Refusal as refusal:
                raise forms.ValidationError(refusal.sentence) from None
        return address

    def must_confirm(self) -> bool:
        return self.has_new_email and super().must_confirm()

    @property
    def has_new_email(self) -> bool:
        address = self.cleaned_data.get("email")
        return bool(address) and address != self.request.user.email


class ConfirmationForm(RecentAuthenticationForm):
    """The confirmation alone, before a page that needs it; then it goes on at `next`."""

    confirmed_text = CONFIRMED
    next = forms.CharField(widget=forms.HiddenInput, required=False)

    @property
    def return_path(self) -> str:
        path = self.data.get("next") or reverse("account")
        return safe_return_path(self.request, self.request.build_absolute_uri(path))
