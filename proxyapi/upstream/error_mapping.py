"""Map an answer outside 2xx to an error: by error.code, then by known messages, then by status.

Contract: pure and total: any status and any bytes give an `UpstreamError`. A status of a refusal
becomes a `Refused`; whether it proves that nothing was charged is `is_documented`. Spec, "Errors".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from proxyapi.upstream import errors, response_parsing
from proxyapi.upstream.endpoint import Endpoint
from proxyapi.upstream.errors import ErrorDetails, UpstreamError

# GEN-FORBIDDEN and GEN-WRONG-ARGS are not here: their messages are more specific, though never
# about the plan or the e-mail address, which have codes of their own.
_CLASS_BY_CODE: Mapping[str, type[UpstreamError]] = {
    "GEN-UNAUTHORIZED": errors.Unauthorized,
    "GEN-NOT-FOUND": errors.NotFound,
    "GEN-API-ERROR": errors.ServerError,
    "SUBSCRIPTION-REQUIRED": errors.SubscriptionRequired,
    "PAID-SUBSCRIPTION-REQUIRED": errors.PaidSubscriptionRequired,
    "INSUFFICIENT-CREDITS": errors.InsufficientCredits,
    "EMAIL-NOT-VERIFIED": errors.EmailNotVerified,
    "FEATURE-NOT-ALLOWED": errors.FeatureNotAllowed,
    "REACH-PLAN-LIMIT": errors.PlanLimitReached,
    "REACH-PLAN-STORAGE-LIMIT": errors.PlanLimitReached,
    "REACH-PLAN-PUBLISH-LIMIT": errors.PlanLimitReached,
}

# The codes that the spec lists for each status; a 422 has a map of fields instead.
_CODES_BY_STATUS: Mapping[int, frozenset[str]] = {
    400: frozenset({"GEN-WRONG-ARGS"}),
    401: frozenset({"GEN-UNAUTHORIZED"}),
    402: frozenset({"INSUFFICIENT-CREDITS"}),
    404: frozenset({"GEN-NOT-FOUND"}),
    403: frozenset(
        {
            "GEN-FORBIDDEN",
            "SUBSCRIPTION-REQUIRED",
            "PAID-SUBSCRIPTION-REQUIRED",
            "EMAIL-NOT-VERIFIED",
            "FEATURE-NOT-ALLOWED",
            "REACH-PLAN-LIMIT",
            "REACH-PLAN-STORAGE-LIMIT",
            "REACH-PLAN-PUBLISH-LIMIT",
        }
    ),
}
# The spec gives the meaning of these messages, not their wording; the first match counts.
_CLASS_BY_MESSAGE: tuple[tuple[int, str, type[UpstreamError]], ...] = (
    (
        403,
        r"currently (being )?process|processing currently|\bis (rendering|syncing)",
        errors.ResourceBusy,
    ),
    (403, r"script\b.*\b(required|missing|before)", errors.ScriptMissing),
    (403, r"voice\b.*\bnot found|unknown voice", errors.VoiceNotFound),
    (403, r"voice\b.*\b(not provided|required|missing)", errors.VoiceMissing),
    (422, r"genre\b.*\brequired", errors.GenreMissing),
    (422, r"payment method", errors.PaymentMethodMissing),
)

# These stop a whole token: the message is matched only if there is no code at all.
_CLASS_BY_MESSAGE_WITHOUT_CODE: tuple[tuple[int, str, type[UpstreamError]], ...] = (
    (403, r"\btrials?\b", errors.PaidSubscriptionRequired),
    (403, r"\bsubscription\b", errors.SubscriptionRequired),
    (403, r"e-?mail\b.*\bverif|verif\w+\b.*\be-?mail", errors.EmailNotVerified),
    (409, r"e-?mail\b.*\bverif|verif\w+\b.*\be-?mail", errors.EmailNotVerified),
)

_CLASS_BY_STATUS: Mapping[int, type[UpstreamError]] = {
    400: errors.BadRequest,
    401: errors.ProxyUnauthorized,
    402: errors.InsufficientCredits,
    403: errors.Forbidden,
    404: errors.NotFound,
    405: errors.MethodNotAllowed,
    409: errors.Conflict,
    422: errors.ValidationFailed,
    **dict.fromkeys((406, 410, 411, 413, 414, 415, 417, 421, 423, 426, 428, 431), errors.Refused),
}

_ACCOUNT_AREA = frozenset({"me", "credits", "top_up"})


def error_from_response(
    operation: Endpoint, status: int, headers: Mapping[str, str], body: bytes
) -> UpstreamError:
    """The error for an answer with this status. Header names are lower-case, the body is
    decoded."""
    details = _parse_error_details(status, headers, body)
    return _error_class(operation, details)(operation, details)


def _error_class(operation: Endpoint, details: ErrorDetails) -> type[UpstreamError]:
    status = details.status or 0
    if status == 429:
        return errors.RateLimited
    if status >= 500:
        return errors.ServerError
    if 300 <= status < 400:
        return errors.UnexpectedRedirect
    if status not in _CLASS_BY_STATUS:
        return errors.UnexpectedStatus  # such as 408: a proxy may have given up waiting
    if details.code in _CLASS_BY_CODE:
        return _CLASS_BY_CODE[details.code]
    text = " ".join(
        [details.message, *(line for lines in details.fields.values() for line in lines)]
    )
    patterns = (
        _CLASS_BY_MESSAGE if details.code else (*_CLASS_BY_MESSAGE, *_CLASS_BY_MESSAGE_WITHOUT_CODE)
    )
    for pattern_status, pattern, error_class in patterns:
        if status == pattern_status and re.search(pattern, text, re.IGNORECASE):
            return error_class
    if status == 422 and "assets" in details.fields and operation.name.endswith(".render"):
        return errors.AssetsMissing
    if status == 409 and operation.area in _ACCOUNT_AREA:
        return errors.EmailNotVerified  # the spec lists that 409 without its body (pitfall 87)
    return _CLASS_BY_STATUS[status]


def _parse_error_details(status: int, headers: Mapping[str, str], body: bytes) -> ErrorDetails:
    try:
        top = response_parsing.as_mapping(response_parsing.parse_json(body))
    except response_parsing.UnreadableBody:
        # HTML from a proxy or a truncated body: the status still counts.
        top = {}
    error = response_parsing.as_mapping(top.get("error"))
    code = _parse_error_code(error.get("code"))
    message = _clean_message(top.get("message")) or _clean_message(error.get("message"))
    fields = _parse_field_errors(top.get("errors")) or _parse_field_errors(error.get("errors"))
    return ErrorDetails(
        status=status,
        code=code,
        message=message,
        fields=fields,
        is_documented=bool(message)
        and top.get("status") in (None, status)
        and _is_documented(status, code, fields),
        required=_find_amount("required", error, top),
        available=_find_amount("available", error, top),
        retry_after=response_parsing.parse_retry_after(headers),
        rate_limit=response_parsing.parse_rate_limit(headers),
    )


def _is_documented(status: int, code: str, fields: Mapping[str, Any]) -> bool:
    """Whether the spec has such an answer; it shows no code of a 422 and none of a 429."""
    if status == 422:
        return bool(fields)
    return status == 429 or code in _CODES_BY_STATUS.get(status, ())


def _parse_error_code(value: Any) -> str:
    text = value.strip().upper() if isinstance(value, str) else ""
    return text if re.fullmatch(r"[A-Z0-9][A-Z0-9_-]{0,63}", text) else ""


def _clean_message(value: Any) -> str:
    text = value if isinstance(value, str) else ""
    return " ".join("".join(c if c.isprintable() else " " for c in text[:300]).split())


def _parse_field_errors(value: Any) -> dict[str, list[str]]:
    fields = {}
    for name, lines in list(response_parsing.as_mapping(value).items())[:100]:
        lines = lines if isinstance(lines, list) else [lines]
        fields[name] = [words for line in lines[:20] if (words := _clean_message(line))]
    return fields


def _find_amount(name: str, error: Mapping[str, Any], top: Mapping[str, Any]) -> Decimal | None:
    # The spec says that the body contains it, but not where (pitfall 58).
    for place in (error, top, error.get("details"), error.get("meta"), top.get("data")):
        number = response_parsing.parse_credit_amount(response_parsing.as_mapping(place).get(name))
        if number is not None:
            return number
    return None


def _iter_codes(error: type[UpstreamError]) -> Iterator[str]:
    yield error.code
    for kind in error.__subclasses__():
        yield from _iter_codes(kind)


# The spec's and our own, for whoever counts errors: a service could send any number of others.
KNOWN_CODES = frozenset(_iter_codes(UpstreamError)).union(
    _CLASS_BY_CODE, *_CODES_BY_STATUS.values()
)
