"""It may have been done, and it may have been charged: only reading can tell."""

from __future__ import annotations

from proxyapi.upstream.endpoint import RetryPolicy
from proxyapi.upstream.errors.base import ErrorOutcome, UpstreamError


class OutcomeUnknown(UpstreamError):
    code = "OUTCOME-UNKNOWN"
    outcome = ErrorOutcome.UNKNOWN
    happened = "The answer of the service got lost."

    @property
    def retry_safe(self) -> bool:
        return self.operation is not None and self.operation.retry is RetryPolicy.SAFE

    @property
    def user_message(self) -> str:
        if self.retry_safe:
            return f"{self.happened} Nothing was charged."
        if self.operation is not None and not self.operation.charging:
            return f"We do not know whether this was done. {self.happened}"
        return (
            f"We do not know whether credits were spent. {self.happened} "
            "It will not be sent again; the ledger decides."
        )


class ServerError(OutcomeUnknown):
    code = "GEN-API-ERROR"
    happened = "The service answered with a fault of its own."


class ResponseLost(OutcomeUnknown):
    """`status` is set where the answer began well and only its body could not be read."""

    code = "ANSWER-LOST"


class UnexpectedStatus(OutcomeUnknown):
    code = "UNEXPECTED-ANSWER"
    happened = "The service gave an answer that we do not know."


class UnexpectedRedirect(UnexpectedStatus):
    code = "REDIRECTED"
    happened = "The service pointed to another address, where the token is not sent."
