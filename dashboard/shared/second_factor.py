"""Which people sign in with a second factor: a passkey or an authenticator app."""

from __future__ import annotations

from collections.abc import Iterable

from allauth.mfa.models import Authenticator
from django.core.exceptions import ValidationError
from django.db.models import TextChoices

from dashboard.models import User

# What allauth and fido2 raise for JSON that is no credential.
MALFORMED_CREDENTIAL = (ValidationError, AttributeError, LookupError, TypeError, ValueError)


class SecondFactor(TextChoices):
    PASSKEY = "passkey", "Passkey"
    APP = "app", "App"
    OFF = "off", "Off"


# Recovery codes only stand in for one of these.
SECOND_FACTORS = {
    Authenticator.Type.TOTP: SecondFactor.APP,
    Authenticator.Type.WEBAUTHN: SecondFactor.PASSKEY,
}


def has_second_factor(user: User) -> bool:
    return bool(Authenticator.objects.filter(user=user, type__in=SECOND_FACTORS).exists())


def load_second_factors(user_ids: Iterable[int]) -> dict[int, SecondFactor]:
    """Return the second factor of each user id; the passkey of those who have both. One query."""
    factors = dict.fromkeys(user_ids, SecondFactor.OFF)
    rows = Authenticator.objects.filter(user__in=factors, type__in=SECOND_FACTORS)
    for user_id, kind in rows.values_list("user_id", "type"):
        if factors[user_id] != SecondFactor.PASSKEY:
            factors[user_id] = SECOND_FACTORS[kind]
    return factors
