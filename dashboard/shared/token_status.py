"""A token's status and its last use, for the pages that list tokens."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import OuterRef, Subquery

from dashboard.shared.formatting import clock
from proxyapi.credentials import token_vault
from proxyapi.models import ApiCall, Charge, Token, TokenState
from proxyapi.models.token import TokenQuerySet

OTHER_UPSTREAM_TEXT = "Paused: belongs to another address of the service"
NO_PAID_PLAN_TEXT = "Paused: no paid plan"
NOT_VERIFIED_TEXT = "E-mail address of the account not verified"


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
        return TokenStatus("paused", NO_PAID_PLAN_TEXT)
    if not token.account.email_verified:
        return TokenStatus("late", NOT_VERIFIED_TEXT)
    return TokenStatus("completed", "Working")


def annotate_last_use(tokens: TokenQuerySet) -> TokenQuerySet:
    """Add the times of the last call and of the last charge, for `last_use`."""
    called = ApiCall.objects.filter(token=OuterRef("pk")).order_by("-sent_at").values("sent_at")
    # Calls are deleted after their retention, charges are kept.
    charged = Charge.objects.filter(token=OuterRef("pk"), sent_at__isnull=False)
    charged_at = charged.order_by("-sent_at").values("sent_at")
    return tokens.annotate(
        last_called_at=Subquery(called[:1]), last_charged_at=Subquery(charged_at[:1])
    )


def last_use(token: Token) -> datetime | None:
    """Return when something was last sent with a token of `annotate_last_use`; None without a
    record, because calls are kept for API_CALL_RETENTION_DAYS."""
    times = (getattr(token, name) for name in ("last_called_at", "last_charged_at"))
    return max(filter(None, times), default=None)
