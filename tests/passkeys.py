"""Second factors without a browser: what an authenticator signs at the address of the tests."""

from __future__ import annotations

import json
import secrets
from hashlib import sha256
from typing import Any

from allauth.account.utils import user_pk_to_url_str
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from allauth.mfa.webauthn.internal.auth import WebAuthn
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from fido2.cose import ES256
from fido2.utils import websafe_encode
from fido2.webauthn import (
    AttestationObject,
    AttestedCredentialData,
    AuthenticatorData,
    CollectedClientData,
)

from dashboard.models import User

HOST, ORIGIN = "localhost", "http://localhost"
FLAG = AuthenticatorData.FLAG


class SoftwarePasskey:
    """One credential of one person."""

    def __init__(self) -> None:
        self.id = secrets.token_bytes(16)
        self.user_handle = ""
        self.key = ec.generate_private_key(ec.SECP256R1())

    def create(self, options: dict[str, Any]) -> str:
        """The answer to creation options, as the JSON of a browser."""
        self.user_handle = options["user"]["id"]
        public_key = ES256.from_cryptography_key(self.key.public_key())
        attested = AttestedCredentialData.create(bytes(16), self.id, public_key)
        auth_data = self.authenticator_data(FLAG.UP | FLAG.UV | FLAG.AT, attested)
        attestation = AttestationObject.create("none", auth_data, {})
        response = {"attestationObject": websafe_encode(attestation)}
        return self.as_json("webauthn.create", options["challenge"], response)

    def sign(self, options: dict[str, Any], origin: str = ORIGIN) -> str:
        """The answer to request options."""
        auth_data = self.authenticator_data(FLAG.UP | FLAG.UV)
        data = CollectedClientData.create("webauthn.get", options["challenge"], origin)
        signature = self.key.sign(auth_data + data.hash, ec.ECDSA(hashes.SHA256()))
        response = {
            "authenticatorData": websafe_encode(auth_data),
            "signature": websafe_encode(signature),
            "userHandle": self.user_handle,
        }
        return self.as_json("webauthn.get", options["challenge"], response, origin)

    def authenticator_data(self, flags: int, attested: bytes = b"") -> AuthenticatorData:
        return AuthenticatorData.create(sha256(HOST.encode()).digest(), FLAG(flags), 0, attested)

    def as_json(
        self, kind: str, challenge: str, response: dict[str, str], origin: str = ORIGIN
    ) -> str:
        data = CollectedClientData.create(kind, challenge, origin)
        own = websafe_encode(self.id)
        return json.dumps(
            {
                "id": own,
                "rawId": own,
                "type": "public-key",
                "response": {"clientDataJSON": websafe_encode(data), **response},
                "clientExtensionResults": {"credProps": {"rk": True}},
            }
        )


def store_passkey(user: User, name: str = "MacBook") -> tuple[SoftwarePasskey, Authenticator]:
    """A passkey that the person added before."""
    passkey = SoftwarePasskey()
    handle = websafe_encode(user_pk_to_url_str(user).encode())
    credential = passkey.create({"user": {"id": handle}, "challenge": websafe_encode(b"before")})
    return passkey, WebAuthn.add(user, name, json.loads(credential)).instance


def store_second_factors(user: User) -> str:
    """An app, a passkey and recovery codes that the person has; the key of the app."""
    key = generate_totp_secret()
    TOTP.activate(user, key)
    RecoveryCodes.activate(user)
    store_passkey(user)
    return key
