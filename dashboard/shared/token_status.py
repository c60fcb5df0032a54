"""A token's status for the pages of members and tokens."""

from __future__ import annotations

from dataclasses import dataclass

from dashboard.shared.formatting import clock
from proxyapi.credentials import token_vault
from proxyapi.models import Token, TokenState

OTHER_UPSTREAM_TEXT = "Paused: belongs to another address of the service"


@dataclass(frozen=True, slots=True)
class TokenStatus:
    """A `data-state` value, which chooses the glyph, and a text."""

    state: str
    word: str

    @property
    def works(self) -> bool:
        return self.state == "completed"


def build_token_status(token: Token) -> TokenStatus:
    if token.state == TokenState.REVOKED:
        return TokenStatus("paused", f"Revoked since {clock(token.state_since)}")
    if not token_vault.can_decrypt(token):
        return TokenStatus("failed", "Cannot be decrypted: add it again")
    if not token.account.is_of_current_upstream:
        return TokenStatus("paused", OTHER_UPSTREAM_TEXT)
    if token.state == TokenState.PAUSED:
        return TokenStatus("paused", "Paused: no paid plan")
    if not token.account.email_verified:
        return TokenStatus("late", "E-mail address of the account not verified")
    return TokenStatus("completed", "Working")
