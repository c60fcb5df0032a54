"""The form that finds the single sign-on of an e-mail address."""

from __future__ import annotations

from django import forms

from dashboard.shared.forms import AddressField, PortalForm


class SignInAddressForm(PortalForm):
    address = AddressField(
        label="E-mail",
        max_length=254,
        widget=forms.EmailInput(attrs={"autocomplete": "username"}),
        error_messages={"required": "Enter your e-mail address."},
    )
