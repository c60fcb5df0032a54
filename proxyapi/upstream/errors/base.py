"""The root of the error tree, and what an error answer says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum

from proxyapi.upstream.endpoint import Endpoint
from proxyapi.upstream.reply import RateLimitStatus, RawResponse


class ErrorOutcome(StrEnum):
    NOT_SENT = "not_sent"
    REFUSED = "refused"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ErrorDetails:
    """What an error answer says, as far as it can be read. `words` are the upstream's own."""

    status: int | None = None
    code: str = ""
    message: str = ""
    fields: Mapping[str, list[str]] = field(default_factory=dict)
    required: Decimal | None = None
    available: Decimal | None = None
    retry_after: float | None = None
    rate_limit: RateLimitStatus | None = None
    allowed_methods: tuple[str, ...] = ()
    raw_response: RawResponse | None = None


NO_DETAILS = ErrorDetails()


class UpstreamError(Exception):
    """Base of everything a call can raise. `retry_after` is in seconds, amounts in credits."""

    code: str = "UPSTREAM-ERROR"
    outcome: ErrorOutcome = ErrorOutcome.UNKNOWN
    sentence: str = "The service could not do this."

    def __init__(self, operation: Endpoint | None = None, said: ErrorDetails = NO_DETAILS) -> None:
        super().__init__()
        self.operation = operation
        self.code = said.code or type(self).code
        self.status = said.status
        self.detail = said.message
        self.fields = said.fields
        self.required = said.required
        self.available = said.available
        self.retry_after = said.retry_after
        self.allowance = said.rate_limit
        self.answer = said.raw_response

    @property
    def retry_safe(self) -> bool:
        """Whether sending it again costs nothing and makes sense."""
        return False

    @property
    def user_message(self) -> str:
        """What happened and what it cost; `detail` may be quoted beside it, escaped."""
        return self.sentence

    def retry_delay_s(self, otherwise: float) -> float:
        """Seconds until it makes sense to ask again: as told, 1 at least; `otherwise` if untold."""
        return otherwise if self.retry_after is None else max(1.0, self.retry_after)

    def __str__(self) -> str:
        name = self.operation.name if self.operation else "call"
        status = f" ({self.status})" if self.status else ""
        return f"{name}: {self.code}{status}"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self}>"
