"""Refusals of the upstream, each with its status and stable code (spec: Errors).

Refusal
├── Unauthorized            401  GEN-UNAUTHORIZED
├── InsufficientCredits     402  INSUFFICIENT-CREDITS, with required and available
├── Forbidden               403  GEN-FORBIDDEN
│   ├── SubscriptionRequired        SUBSCRIPTION-REQUIRED
│   ├── PaidSubscriptionRequired    PAID-SUBSCRIPTION-REQUIRED
│   ├── EmailNotVerified            EMAIL-NOT-VERIFIED
│   ├── FeatureNotAllowed           FEATURE-NOT-ALLOWED
│   ├── PlanLimitReached            REACH-PLAN-LIMIT
│   ├── StorageLimitReached         REACH-PLAN-STORAGE-LIMIT
│   └── PublishLimitReached         REACH-PLAN-PUBLISH-LIMIT
├── NotFound                404  GEN-NOT-FOUND
├── WrongArguments          400  GEN-WRONG-ARGS
├── MethodNotAllowed        405  code not shown in the spec
├── EmailConflict           409  body not shown in the spec
├── PayloadTooLarge         413  not shown in the spec
└── TooManyRequests         429  code not shown in the spec
Invalid                     422  message and errors by field, no code
"""

from __future__ import annotations

from typing import Any


class ApiError(Exception):
    status = 500
    code = "GEN-API-ERROR"
    text = "An unexpected error occurred."

    def __init__(self, message: str | None = None, **details: Any) -> None:
        self.message = message or self.text
        self.details = details
        self.headers: dict[str, str] = {}
        super().__init__(self.message)


class Unauthorized(ApiError):
    status, code, text = 401, "GEN-UNAUTHORIZED", "Unauthenticated."


class InsufficientCredits(ApiError):
    status, code = 402, "INSUFFICIENT-CREDITS"
    text = "You do not have enough credits for this action."

    def __init__(self, *, required: int, available: int) -> None:
        super().__init__(required=required, available=available)


class Forbidden(ApiError):
    status, code, text = 403, "GEN-FORBIDDEN", "This action is not allowed."


class SubscriptionRequired(Forbidden):
    code, text = "SUBSCRIPTION-REQUIRED", "An active subscription is required."


class PaidSubscriptionRequired(Forbidden):
    code = "PAID-SUBSCRIPTION-REQUIRED"
    text = "API access requires an active paid subscription. Trials are not eligible."


class EmailNotVerified(Forbidden):
    code, text = "EMAIL-NOT-VERIFIED", "Your email address is not verified."


class FeatureNotAllowed(Forbidden):
    code, text = "FEATURE-NOT-ALLOWED", "Your plan does not have this feature."


class PlanLimitReached(Forbidden):
    code, text = "REACH-PLAN-LIMIT", "You have reached the limit of your plan."


class StorageLimitReached(Forbidden):
    code, text = "REACH-PLAN-STORAGE-LIMIT", "You have reached the storage of your plan."


class PublishLimitReached(Forbidden):
    code = "REACH-PLAN-PUBLISH-LIMIT"
    text = "You have reached the number of publications of your plan."


class NotFound(ApiError):
    status, code, text = 404, "GEN-NOT-FOUND", "The requested resource was not found."


class WrongArguments(ApiError):
    status, code, text = 400, "GEN-WRONG-ARGS", "The request has malformed arguments."


class MethodNotAllowed(ApiError):
    status, code = 405, "GEN-METHOD-NOT-ALLOWED"
    text = "This method is not allowed on this path."

    def __init__(self, allowed: list[str]) -> None:
        super().__init__()
        self.headers["Allow"] = ", ".join(allowed)


class EmailConflict(ApiError):
    status, code, text = 409, "EMAIL-NOT-VERIFIED", "Verify your email address first."


class PayloadTooLarge(ApiError):
    status, code, text = 413, "GEN-PAYLOAD-TOO-LARGE", "The request is too large."


class TooManyRequests(ApiError):
    status, code, text = 429, "GEN-TOO-MANY-REQUESTS", "Too many requests. Try again later."


class ValidationError(Exception):
    """422: what is wrong with which field."""

    def __init__(self, errors: dict[str, list[str]]) -> None:
        self.errors = errors
        first = next(iter(errors.values()))[0]
        more = sum(map(len, errors.values())) - 1
        tail = f" (and {more} more error{'s' if more > 1 else ''})" if more else ""
        self.message = first + tail
        super().__init__(self.message)
