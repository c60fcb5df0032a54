"""The adapter of allauth's second factors: its secrets are encrypted, its messages are ours."""

from __future__ import annotations

from typing import ClassVar

from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator

from dashboard.account.totp_clock import WRONG_CODE
from dashboard.models import SecondFactorSecret, User
from proxyapi.credentials import encryption


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    error_messages: ClassVar[dict[str, str]] = {
        **DefaultMFAAdapter.error_messages,
        "incorrect_code": WRONG_CODE,
    }

    def encrypt(self, text: str) -> str:
        """Store the secret; return the id of its row."""
        row = SecondFactorSecret()
        ring = encryption.load_key_ring()
        row.ciphertext = encryption.encrypt(text.encode(), row.encryption_context(), ring)
        row.save()
        return str(row.pk)

    def decrypt(self, encrypted_text: str) -> str:
        row = SecondFactorSecret.objects.get(pk=encrypted_text)
        ring = encryption.load_key_ring()
        return encryption.decrypt(bytes(row.ciphertext), row.encryption_context(), ring).decode()

    def generate_authenticator_name(self, user: User, type: Authenticator.Type) -> str:  # noqa: A002
        """Return a name for a passkey that was given none."""
        count = Authenticator.objects.filter(user=user, type=type).count()
        return f"Passkey {count + 1}"

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        entity: dict[str, str] = super().get_public_key_credential_rp_entity()
        return {**entity, "name": "Reelroom"}
