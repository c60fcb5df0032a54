"""Encrypt and decrypt the client secret of a team's provider."""

from __future__ import annotations

from dashboard.models import SingleSignOnSecret
from proxyapi.credentials import encryption
from proxyapi.upstream.secret import Secret


def encrypt_client_secret(row: SingleSignOnSecret, secret: Secret) -> None:
    # No variable holds the plain value, because error reports quote variables.
    row.ciphertext = encryption.encrypt(
        secret.reveal().encode(), row.encryption_context(), encryption.load_key_ring()
    )


def decrypt_client_secret(row: SingleSignOnSecret) -> Secret:
    """The plain value, for one request. Raises `DecryptionFailed`."""
    return Secret(
        encryption.decrypt(
            bytes(row.ciphertext), row.encryption_context(), encryption.load_key_ring()
        ).decode()
    )
