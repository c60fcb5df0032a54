"""The call provably did not start: nothing was done and nothing was charged."""

from __future__ import annotations

from proxyapi.upstream.endpoint import Endpoint
from proxyapi.upstream.errors.base import ErrorOutcome, UpstreamError


class NotSent(UpstreamError):
    code = "UNREACHABLE"
    outcome = ErrorOutcome.NOT_SENT
    sentence = "The service could not be reached. Nothing was sent."

    @property
    def retry_safe(self) -> bool:
        return True


class ConnectionRefused(NotSent):
    code = "CONNECTION-REFUSED"
    sentence = "The service takes no connections at the moment. Nothing was sent."


class DnsFailed(NotSent):
    code = "NAME-UNKNOWN"
    sentence = "The service's address could not be found. Nothing was sent."


class TlsFailed(NotSent):
    code = "TLS-FAILED"
    sentence = "The service's certificate could not be verified. Nothing was sent."


class ConnectTimedOut(NotSent):
    code = "CONNECT-TIMEOUT"
    sentence = "The service took too long to take the connection. Nothing was sent."


class PoolTimedOut(NotSent):
    code = "POOL-TIMEOUT"
    sentence = "Too many calls to the service are open already. Nothing was sent."


class UnsendableRequest(NotSent):
    """The request cannot be made. `reason` is for developers and quotes no value."""

    code = "UNSENDABLE"
    sentence = "This cannot be sent to the service in this form. Nothing was sent."

    def __init__(self, operation: Endpoint | None = None, reason: str = "") -> None:
        super().__init__(operation)
        self.reason = reason

    @property
    def retry_safe(self) -> bool:
        return False

    def __str__(self) -> str:
        return f"{super().__str__()}: {self.reason}"


class RateLimited(UpstreamError):
    """429. `token_wide` tells the token's window from a limit of this operation alone."""

    code = "RATE-LIMITED"
    outcome = ErrorOutcome.NOT_SENT

    @property
    def is_token_wide(self) -> bool:
        """False where requests are left: then the scraping pool or the preview limit is out."""
        return self.allowance is None or self.allowance.remaining <= 0

    @property
    def retry_safe(self) -> bool:
        return True

    @property
    def user_message(self) -> str:
        wait = f" It takes the next one in {self.retry_after:.0f} s." if self.retry_after else ""
        if self.is_token_wide:
            return f"The service has had its fill of requests.{wait} Nothing was charged."
        return f"The service does no more of this kind for now.{wait} Nothing was charged."
