"""The error tree of the upstream API (spec, "Errors"): `NotSent`, `RateLimited`, `Refused` and
`OutcomeUnknown`, and what each covers.

`outcome` states what is known about the work and the money, `retry_safe` whether a program may send
the same call again, `user_message` the text for people. The text of an exception has our own words,
the operation's name, the code and the status, and nothing received, which can contain the token.
"""

from __future__ import annotations

from enum import StrEnum

from proxyapi.upstream.endpoint import Endpoint, RetryPolicy
from proxyapi.upstream.reply import Answer
from proxyapi.upstream.reply import ErrorDetails as ErrorDetails

OTHER_METHODS = {"PUT": "POST", "POST": "PATCH", "PATCH": "PUT"}  # to try where none is shown
MAX_FIELD_NAME_CHARS = 40  # characters of a field's name in a sentence
NOTHING_CHARGED = "Nothing was charged."
CHARGE_CHECKED = "Whether it was charged is being checked."
LEDGER_READABLE = "The balance and the ledger can still be read."


class ErrorOutcome(StrEnum):
    NOT_SENT = "not_sent"
    REFUSED = "refused"
    UNKNOWN = "unknown"


NO_DETAILS = ErrorDetails()


class UpstreamError(Exception):
    """Base of everything a call can raise. `retry_after` is in seconds, amounts in credits."""

    code: str = "UPSTREAM-ERROR"
    outcome: ErrorOutcome = ErrorOutcome.UNKNOWN
    sentence: str = "The service could not do this."
    is_free_to_repeat = False
    answer: Answer | None = None  # as it was received; never a part of the text

    def __init__(
        self, operation: Endpoint | None = None, details: ErrorDetails = NO_DETAILS
    ) -> None:
        super().__init__()
        self.operation = operation
        self.code = details.code or type(self).code
        self.status = details.status
        self.detail = details.message
        self.fields = details.fields
        self.required = details.required
        self.available = details.available
        self.retry_after = details.retry_after
        self.allowance = details.rate_limit
        self.is_documented = details.is_documented

    @property
    def retry_safe(self) -> bool:
        """Whether sending it again costs nothing and can succeed."""
        return self.is_free_to_repeat

    @property
    def user_message(self) -> str:
        """What happened and what it cost; `detail` may be quoted beside it, escaped."""
        return self.sentence

    def retry_delay_s(self, otherwise: float) -> float:
        """Seconds until a retry makes sense: as requested, at least 1; else `otherwise`."""
        return otherwise if self.retry_after is None else max(1.0, self.retry_after)

    def __str__(self) -> str:
        name = self.operation.name if self.operation else "call"
        status = f" ({self.status})" if self.status else ""
        return f"{name}: {self.code}{status}"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self}>"


class NotSent(UpstreamError):
    code = "UNREACHABLE"
    outcome = ErrorOutcome.NOT_SENT
    sentence = "The service could not be reached. Nothing was sent."
    is_free_to_repeat = True


class ConnectionRefused(NotSent):
    code = "CONNECTION-REFUSED"
    sentence = "The service is not accepting connections. Nothing was sent."


class DnsFailed(NotSent):
    code = "NAME-UNKNOWN"
    sentence = "The service's address could not be found. Nothing was sent."


class TlsFailed(NotSent):
    code = "TLS-FAILED"
    sentence = "The service's certificate could not be verified. Nothing was sent."


class ConnectTimedOut(NotSent):
    code = "CONNECT-TIMEOUT"
    sentence = "Connecting to the service timed out. Nothing was sent."


class PoolTimedOut(NotSent):
    code = "POOL-TIMEOUT"
    sentence = "Too many requests to the service are already open. Nothing was sent."


class UnsendableRequest(NotSent):
    """The request cannot be built. `reason` is for developers and quotes no value."""

    code = "UNSENDABLE"
    sentence = "This cannot be sent to the service. Nothing was sent."
    is_free_to_repeat = False

    def __init__(self, operation: Endpoint | None = None, reason: str = "") -> None:
        super().__init__(operation)
        self.reason = reason

    def __str__(self) -> str:
        return f"{super().__str__()}: {self.reason}"


class Answered(UpstreamError):
    """An answer outside 2xx. What it proves of a charging call is decided in `outcome` alone: every
    such answer may come from something between us and a service that did the work."""

    can_prove = True
    free_outcome = ErrorOutcome.REFUSED

    @property
    def outcome(self) -> ErrorOutcome:  # type: ignore[override]
        """Whether the work was done: not, unless the call charges and the answer is no proof."""
        is_charging = self.operation is not None and self.operation.charging
        return (
            self.free_outcome if self.proves_no_charge or not is_charging else ErrorOutcome.UNKNOWN
        )

    @property
    def proves_no_charge(self) -> bool:
        return self.is_documented and self.can_prove

    @property
    def charge_sentence(self) -> str:
        """What is known of the money, for the end of a sentence about the refusal."""
        return CHARGE_CHECKED if self.outcome is ErrorOutcome.UNKNOWN else NOTHING_CHARGED


class RateLimited(Answered):
    """429. `is_token_wide` distinguishes the token's limit from a limit of this operation alone."""

    code = "RATE-LIMITED"
    can_prove = False  # a search carried out and answered 429 would be paid again and again
    free_outcome = ErrorOutcome.NOT_SENT

    @property
    def is_retry_requested(self) -> bool:
        """Whether it is the service's own 429, which says when to try again."""
        return self.is_documented and self.retry_after is not None

    @property
    def is_token_wide(self) -> bool:
        """False if the token has requests left: then the scraping pool or the preview limit is
        exhausted."""
        return self.allowance is None or self.allowance.remaining <= 0

    @property
    def retry_safe(self) -> bool:
        return self.outcome is not ErrorOutcome.UNKNOWN

    @property
    def user_message(self) -> str:
        kind = "" if self.is_token_wide else " of this kind"
        is_checked, seconds = self.outcome is ErrorOutcome.UNKNOWN, self.retry_after
        wait = "" if is_checked or not seconds else f" Try again in {seconds:.0f} s."
        return f"The service has received too many requests{kind}.{wait} {self.charge_sentence}"


class Refused(Answered):
    """A 4xx. `sentence` says what was refused, `advice` what follows after the money."""

    code = "REFUSED"
    sentence = "The service refused this."
    advice = ""

    @property
    def user_message(self) -> str:
        return " ".join(filter(None, (self.sentence, self.charge_sentence, self.advice)))


class BadRequest(Refused):
    code = "GEN-WRONG-ARGS"
    sentence = "The service did not understand the request."


class Unauthorized(Refused):
    code = "GEN-UNAUTHORIZED"
    sentence = "The service does not recognize this token."


class ProxyUnauthorized(Refused):
    """A 401 without the upstream's code: it is no evidence about the token (spec, Authentication
    7)."""

    code = "TURNED-AWAY"
    sentence = "A proxy on the way to the service requires its own sign-in (401)."
    advice = "The token is unchanged."


class InsufficientCredits(Refused):
    code = "INSUFFICIENT-CREDITS"

    @property
    def user_message(self) -> str:
        if self.required is None or self.available is None:
            return f"The account does not have enough credits. {self.charge_sentence}"
        need, has = (f"{x.normalize():,f}" for x in (self.required, self.available))
        return f"It needs {need} cr; the account has {has}. {self.charge_sentence}"


class Forbidden(Refused):
    code = "GEN-FORBIDDEN"
    sentence = "The service does not allow this for this account."


class SubscriptionRequired(Refused):
    code = "SUBSCRIPTION-REQUIRED"
    sentence = "The account has no active plan."
    advice = LEDGER_READABLE


class PaidSubscriptionRequired(Refused):
    code = "PAID-SUBSCRIPTION-REQUIRED"
    sentence = "The service allows its API on paid plans only, not on trials."
    advice = LEDGER_READABLE


class EmailNotVerified(Refused):
    code = "EMAIL-NOT-VERIFIED"
    sentence = "The account's e-mail address is not verified."
    advice = "Verify it at the service first."


class FeatureNotAllowed(Refused):
    code = "FEATURE-NOT-ALLOWED"
    sentence = "The account's plan does not include this."


class PlanLimitReached(Refused):
    """`code` names the limit: REACH-PLAN-LIMIT, -STORAGE-LIMIT or -PUBLISH-LIMIT."""

    code = "REACH-PLAN-LIMIT"
    sentence = "A limit of the account's plan is reached."


class ResourceBusy(Refused):
    """The cause may be our own render whose answer was lost (pitfall 83), or this very request."""

    code = "BUSY"
    can_prove = False
    sentence = "The service is already processing this video."


class PreconditionFailed(Refused):
    code = "PRECONDITION"
    sentence = "Something is missing before this can be rendered."


class ScriptMissing(PreconditionFailed):
    code = "SCRIPT-MISSING"
    sentence = "The video has no script yet."


class VoiceMissing(PreconditionFailed):
    code = "VOICE-MISSING"
    sentence = "No voice is chosen yet."


class VoiceNotFound(PreconditionFailed):
    code = "VOICE-UNKNOWN"
    sentence = "The service no longer has the chosen voice."


class NotFound(Refused):
    code = "GEN-NOT-FOUND"
    sentence = "The service did not find this for this account."


class MethodNotAllowed(Refused):
    code = "METHOD-NOT-ALLOWED"
    sentence = "The service does not support this request method."

    @property
    def user_message(self) -> str:
        """Names the setting if the method is a guess of ours (pitfall 91)."""
        row = self.operation
        if row is None or row.method_documented:
            return super().user_message
        return (
            f"The service does not take {row.method} for {row.name}. Nothing was charged, and "
            f"nothing is lost. Set VIDEO_API_METHODS={row.name}={OTHER_METHODS[row.method]} and "
            "restart Reelroom, then try again."
        )


class Conflict(Refused):
    code = "CONFLICT"
    sentence = "This is not possible in the current state at the service."


class ValidationFailed(Refused):
    """`fields` holds the upstream's messages by field name."""

    code = "INVALID"
    sentence = "The service does not accept one of the values."

    @property
    def user_message(self) -> str:
        """Quotes the upstream's message for the first field, if we have no text for it."""
        name, message = next(iter(self.field_messages.items()), ("", ""))
        if not message or type(self) is not ValidationFailed:
            return super().user_message
        field = name.replace("_", " ")[:MAX_FIELD_NAME_CHARS]
        return f"The service does not accept the {field}: “{message}” {self.charge_sentence}"

    @property
    def field_messages(self) -> dict[str, str]:
        """The upstream's first message for each field."""
        return {name: lines[0] for name, lines in self.fields.items() if lines}


class GenreMissing(ValidationFailed):
    code = "GENRE-MISSING"
    sentence = "No genre is chosen yet."


class AssetsMissing(ValidationFailed):
    code = "ASSETS-MISSING"
    sentence = "The images of the page have not been fetched yet."


class PaymentMethodMissing(ValidationFailed):
    code = "PAYMENT-METHOD-MISSING"
    sentence = "The account has no saved payment method. Save one at the service first."

    @property
    def user_message(self) -> str:
        return self.sentence  # a setting: it never charges


class OutcomeUnknown(UpstreamError):
    code = "OUTCOME-UNKNOWN"
    outcome = ErrorOutcome.UNKNOWN
    happened = "The service's response was lost."

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
            f"We do not know whether credits were spent. {self.happened} It will not be sent "
            "again. The ledger will show whether it was charged."
        )


class ServerError(OutcomeUnknown):
    code = "GEN-API-ERROR"
    happened = "The service returned a server error."


class ResponseLost(OutcomeUnknown):
    """`status` is set if the answer began as a success and only its body was unreadable."""

    code = "ANSWER-LOST"


class ForeignRecord(ResponseLost):
    """The answer is the record of another resource than the one that the request named."""

    code = "FOREIGN-RECORD"
    happened = "The service answered with the record of something else."


class UnexpectedStatus(OutcomeUnknown):
    code = "UNEXPECTED-ANSWER"
    happened = "The service returned an unknown response."


class UnexpectedRedirect(UnexpectedStatus):
    code = "REDIRECTED"
    happened = "The service redirected to another address, where the token is not sent."
