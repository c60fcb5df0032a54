"""The service said no: nothing was done and nothing was charged (spec, "Errors")."""

from __future__ import annotations

from proxyapi.upstream.endpoint import Endpoint
from proxyapi.upstream.errors.base import NO_DETAILS, ErrorDetails, ErrorOutcome, UpstreamError

MAX_FIELD_NAME_CHARS = 40  # characters of a field's name in a sentence


class Refused(UpstreamError):
    code = "REFUSED"
    outcome = ErrorOutcome.REFUSED
    sentence = "The service refused this. Nothing was charged."


class BadRequest(Refused):
    code = "GEN-WRONG-ARGS"
    sentence = "The service did not understand the request. Nothing was charged."


class Unauthorized(Refused):
    code = "GEN-UNAUTHORIZED"
    sentence = "The service does not know this token, or no longer. Nothing was charged."


class ProxyUnauthorized(Refused):
    """A 401 without the service's code: it says nothing of the token (spec, Authentication 7)."""

    code = "TURNED-AWAY"
    sentence = (
        "Something on the way to the service asked for a sign-in of its own (401). "
        "Nothing was charged, and the token stays as it is."
    )


class InsufficientCredits(Refused):
    code = "INSUFFICIENT-CREDITS"

    @property
    def user_message(self) -> str:
        if self.required is None or self.available is None:
            return "The account has not enough credits for this. Nothing was charged."
        need, has = (f"{x.normalize():,f}" for x in (self.required, self.available))
        return f"It needs {need} cr, the account has {has}. Nothing was charged."


class Forbidden(Refused):
    code = "GEN-FORBIDDEN"
    sentence = "The service does not allow this to this account. Nothing was charged."


class SubscriptionRequired(Refused):
    code = "SUBSCRIPTION-REQUIRED"
    sentence = (
        "The account has no active plan. Nothing was charged. "
        "The balance and the ledger can be read meanwhile."
    )


class PaidSubscriptionRequired(Refused):
    code = "PAID-SUBSCRIPTION-REQUIRED"
    sentence = (
        "The service allows its API on paid plans only, not on trials. Nothing was charged. "
        "The balance and the ledger can be read meanwhile."
    )


class EmailNotVerified(Refused):
    code = "EMAIL-NOT-VERIFIED"
    sentence = (
        "The account's e-mail address is not verified. Nothing was charged. "
        "Verify it at the service first."
    )


class FeatureNotAllowed(Refused):
    code = "FEATURE-NOT-ALLOWED"
    sentence = "The account's plan does not include this. Nothing was charged."


class PlanLimitReached(Refused):
    """The code tells which: REACH-PLAN-LIMIT, -STORAGE-LIMIT or -PUBLISH-LIMIT."""

    code = "REACH-PLAN-LIMIT"
    sentence = "A limit of the account's plan is reached. Nothing was charged."


class ResourceBusy(Refused):
    """It may be the trace of our own render whose answer was lost (pitfall 83)."""

    code = "BUSY"
    sentence = "The service is working on this video already. Nothing was charged."


class PreconditionFailed(Refused):
    code = "PRECONDITION"
    sentence = "Something is missing before this can be rendered. Nothing was charged."


class ScriptMissing(PreconditionFailed):
    code = "SCRIPT-MISSING"
    sentence = "The video has no script yet. Nothing was charged."


class VoiceMissing(PreconditionFailed):
    code = "VOICE-MISSING"
    sentence = "No voice is chosen yet. Nothing was charged."


class VoiceNotFound(PreconditionFailed):
    code = "VOICE-UNKNOWN"
    sentence = "The service no longer has the chosen voice. Nothing was charged."


class NotFound(Refused):
    code = "GEN-NOT-FOUND"
    sentence = "The service shows no such thing to this account. Nothing was charged."


class MethodNotAllowed(Refused):
    """`allow` holds the methods that the answer names (pitfall 91)."""

    code = "METHOD-NOT-ALLOWED"
    sentence = "The service does not do this in this way. Nothing was charged."

    def __init__(self, operation: Endpoint | None = None, said: ErrorDetails = NO_DETAILS) -> None:
        super().__init__(operation, said)
        self.allow = said.allowed_methods


class Conflict(Refused):
    code = "CONFLICT"
    sentence = "This does not fit the present state at the service. Nothing was charged."


class ValidationFailed(Refused):
    """`fields` holds the upstream's sentences by field name."""

    code = "INVALID"
    sentence = "The service does not accept one of the values. Nothing was charged."

    @property
    def user_message(self) -> str:
        """Quotes what the service says of the first field, where we have no sentence for it."""
        name, said = next(iter(self.field_messages.items()), ("", ""))
        if not said or type(self) is not ValidationFailed:
            return self.sentence
        field = name.replace("_", " ")[:MAX_FIELD_NAME_CHARS]
        return f"The service does not accept the {field}: “{said}” Nothing was charged."

    @property
    def field_messages(self) -> dict[str, str]:
        """The upstream's first sentence of each field."""
        return {name: lines[0] for name, lines in self.fields.items() if lines}


class GenreMissing(ValidationFailed):
    code = "GENRE-MISSING"
    sentence = "No genre is chosen yet. Nothing was charged."


class AssetsMissing(ValidationFailed):
    code = "ASSETS-MISSING"
    sentence = "The images of the page are not fetched yet. Nothing was charged."


class PaymentMethodMissing(ValidationFailed):
    code = "PAYMENT-METHOD-MISSING"
    sentence = "The account has no saved payment method. Save one at the service first."
