"""An e-mail address has one form, wherever it comes from."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.conf import settings

from dashboard.members.forms.invitations import InvitePeopleForm
from dashboard.models import Membership, User
from dashboard.models.email_address import address_key, parse_address
from dashboard.shared.forms import AddressField, PortalForm
from dashboard.shared.openid.code_exchange import parse_identity
from dashboard.shared.openid.errors import ProviderFailed

pytestmark = pytest.mark.postgresql

SAM = "sam@northlight.example"
NO_ADDRESSES = (
    "sam\u200b@northlight.example",
    "sam@north\u200blight.example",
    "sam\u202e@northlight.example",
    "s\u0130m@northlight.example",
    "s\u0430m@northlight.example",  # a Cyrillic letter
    "sam@",
    "sam@a b.example",
)
OWN_COMPARISON = re.compile(
    r"email__i(?!n)|(?<!first_)email\.lower\(|address\.lower\(|validate_email\(|forms\.EmailField\("
)


class AddressForm(PortalForm):
    address = AddressField()


@pytest.mark.parametrize(
    "typed", [SAM, " Sam@Northlight.Example ", "\uff53am\uff20northlight.example"]
)
def test_spellings_of_one_mailbox_are_one_address(typed: str) -> None:
    form = AddressForm({"address": typed})
    assert form.is_valid(), form.errors
    claims = {"sub": "1", "email": typed, "email_verified": True}
    assert form.cleaned_data["address"] == SAM
    assert parse_identity(claims, "groups").address == SAM
    assert (parse_address(typed), address_key(typed)) == (SAM, SAM)
    assert parse_address("ada@B\u00fccher.example") == parse_address("ada@xn--bcher-kva.example")


@pytest.mark.parametrize("typed", NO_ADDRESSES)
def test_what_only_looks_like_an_address_is_refused_everywhere(
    typed: str, mira: Membership
) -> None:
    assert not AddressForm({"address": typed}).is_valid()
    form = InvitePeopleForm(mira, {"addresses": typed, "role": "producer"})
    sentence = "is not an e-mail address|has other letters than a to z before the @"
    assert re.search(sentence, str(form.errors["addresses"]))
    with pytest.raises(ProviderFailed, match="address"):
        parse_identity({"sub": "1", "email": typed, "email_verified": True}, "groups")
    assert not User.objects.filter(email=address_key(typed)).exists()


@pytest.mark.parametrize("verified", [1, 1.0, "True", "1", [True], None, False])
def test_an_address_counts_only_if_the_provider_says_true(verified: Any) -> None:
    with pytest.raises(ProviderFailed, match="verified"):
        parse_identity({"sub": "1", "email": SAM, "email_verified": verified}, "groups")


def test_no_code_has_another_comparison_of_addresses() -> None:
    files = (settings.BASE_DIR / "dashboard").rglob("*.py")
    own = {
        str(path.relative_to(settings.BASE_DIR))
        for path in files
        if "migrations" not in path.parts and OWN_COMPARISON.search(path.read_text())
    }
    assert own <= {
        "dashboard/models/email_address.py",
        "dashboard/shared/forms.py",  # the message of a field
    }
