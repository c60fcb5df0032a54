"""Every answer of the spec's error tables is the error that says what it means."""

from __future__ import annotations

import json
import pickle
from decimal import Decimal
from typing import Any

import pytest

from proxyapi.operations import get_operation
from proxyapi.upstream import envelope, errors
from proxyapi.upstream.errors import ErrorOutcome, UpstreamError
from tests.cases import each_case

DATE = "Fri, 20 Nov 2026 12:00:00 GMT"
DATE_UNIX = 1795176000


def refused(status: int, body: Any = b"", name: str = "faceless.render", **headers: str) -> Any:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {key.replace("_", "-"): value for key, value in headers.items()}
    with pytest.raises(UpstreamError) as caught:
        envelope.parse_response(get_operation(name), status, named, raw)
    return caught.value


def coded(code: str, message: str = "No.", **more: Any) -> dict[str, Any]:
    return {"message": message, "error": {"code": code, **more}}


@each_case(
    "code, status, kind",
    [
        ("GEN-UNAUTHORIZED", 401, errors.Unauthorized),
        ("GEN-FORBIDDEN", 403, errors.Forbidden),
        ("GEN-NOT-FOUND", 404, errors.NotFound),
        ("GEN-WRONG-ARGS", 400, errors.BadRequest),
        ("SUBSCRIPTION-REQUIRED", 403, errors.SubscriptionRequired),
        ("PAID-SUBSCRIPTION-REQUIRED", 403, errors.PaidSubscriptionRequired),
        ("INSUFFICIENT-CREDITS", 402, errors.InsufficientCredits),
        ("EMAIL-NOT-VERIFIED", 403, errors.EmailNotVerified),
        ("FEATURE-NOT-ALLOWED", 403, errors.FeatureNotAllowed),
        ("REACH-PLAN-LIMIT", 403, errors.PlanLimitReached),
        ("REACH-PLAN-STORAGE-LIMIT", 403, errors.PlanLimitReached),
        ("REACH-PLAN-PUBLISH-LIMIT", 403, errors.PlanLimitReached),
    ],
)
def test_each_code_of_the_spec_is_its_error(code, status, kind):
    """pitfall_82."""
    error = refused(status, coded(code))
    assert type(error) is kind
    assert (error.code, error.status, error.outcome) == (code, status, ErrorOutcome.REFUSED)
    assert not error.retry_safe


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [
        (403, "A script is required before rendering.", errors.ScriptMissing),
        (403, "Voice was not provided.", errors.VoiceMissing),
        (403, "Voice not found", errors.VoiceNotFound),
        (403, "The video is processing currently, try again once finished", errors.ResourceBusy),
        (403, "This video is currently being processed.", errors.ResourceBusy),
        (422, "A genre is required for AI visuals and AI clips.", errors.GenreMissing),
        (422, "A saved payment method is required.", errors.PaymentMethodMissing),
        (403, "Something new", errors.Forbidden),
        (422, "Something new", errors.ValidationFailed),
    ],
)
@pytest.mark.parametrize("code", ["GEN-FORBIDDEN", ""])
def test_known_prose_says_more_than_a_vague_code(status, message, kind, code):
    """pitfall_83, pitfall_89, pitfall_75."""
    assert type(refused(status, coded(code, message))) is kind
    in_error = {"error": {"code": code, "message": message}}
    assert type(refused(status, in_error)) is kind


@pytest.mark.parametrize(
    ("status", "message", "kind", "coded_as"),
    [
        (403, "Trials are not eligible.", errors.PaidSubscriptionRequired, errors.Forbidden),
        (403, "Your subscription lacks this voice.", errors.SubscriptionRequired, errors.Forbidden),
        (403, "Verify your e-mail address first", errors.EmailNotVerified, errors.Forbidden),
        (409, "Verify your e-mail address first", errors.EmailNotVerified, errors.Conflict),
    ],
)
def test_what_stops_a_token_is_taken_from_prose_only_where_there_is_no_code(
    status, message, kind, coded_as
):
    """pitfall_82: "your subscription does not include this voice" is no lapsed plan."""
    assert type(refused(status, coded("", message))) is kind
    assert type(refused(status, coded("GEN-FORBIDDEN", message))) is coded_as


@pytest.mark.parametrize(
    ("status", "kind", "outcome"),
    [
        (400, errors.BadRequest, ErrorOutcome.REFUSED),
        (401, errors.ProxyUnauthorized, ErrorOutcome.REFUSED),
        (402, errors.InsufficientCredits, ErrorOutcome.REFUSED),
        (403, errors.Forbidden, ErrorOutcome.REFUSED),
        (404, errors.NotFound, ErrorOutcome.REFUSED),
        (405, errors.MethodNotAllowed, ErrorOutcome.REFUSED),
        (409, errors.Conflict, ErrorOutcome.REFUSED),
        (413, errors.Refused, ErrorOutcome.REFUSED),
        (422, errors.ValidationFailed, ErrorOutcome.REFUSED),
        (429, errors.RateLimited, ErrorOutcome.NOT_SENT),
        (500, errors.ServerError, ErrorOutcome.UNKNOWN),
        (502, errors.ServerError, ErrorOutcome.UNKNOWN),
        (504, errors.ServerError, ErrorOutcome.UNKNOWN),
        (301, errors.UnexpectedRedirect, ErrorOutcome.UNKNOWN),
        (303, errors.UnexpectedRedirect, ErrorOutcome.UNKNOWN),
        (408, errors.UnexpectedStatus, ErrorOutcome.UNKNOWN),
        (499, errors.UnexpectedStatus, ErrorOutcome.UNKNOWN),
        (100, errors.UnexpectedStatus, ErrorOutcome.UNKNOWN),
    ],
)
@each_case("body", [b"", b"<html>", b"{", b"[1]", b'{"error": 7, "errors": 3}'])
def test_with_nothing_to_read_the_status_decides(status, kind, outcome, body):
    """pitfall_90: a proxy's HTML is an answer too. Of a call that charges it proves nothing."""
    error, charging = refused(status, body, "faceless.patch"), refused(status, body)
    assert (type(error), error.outcome) == (kind, outcome)
    assert (type(charging), charging.outcome) == (kind, ErrorOutcome.UNKNOWN)
    assert "Nothing was charged" not in charging.user_message


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (402, coded("GEN-FORBIDDEN")),
        (403, coded("SOMETHING-NEW")),
        (403, {**coded("GEN-FORBIDDEN"), "status": 200}),
        (403, coded("GEN-FORBIDDEN", "The video is processing currently.")),
        (405, coded("GEN-METHOD-NOT-ALLOWED")),
        (409, coded("CONFLICT")),
        (422, coded("INVALID")),
        (429, coded("GEN-TOO-MANY-REQUESTS")),
    ],
)
def test_only_an_answer_that_the_spec_lists_proves_that_nothing_was_charged(status, body):
    assert refused(status, body, Retry_After="2").outcome is ErrorOutcome.UNKNOWN


@pytest.mark.parametrize(
    ("body", "headers", "is_requested"),
    [
        ({"message": "Slow."}, {"Retry_After": "2"}, True),
        ({"message": "Slow."}, {}, False),
        ({"message": "Slow."}, {"Retry_After": "soon"}, False),
        (b"<html>", {"Retry_After": "2"}, False),
    ],
)
def test_a_429_requests_a_retry_only_if_it_is_whole_and_says_when(body, headers, is_requested):
    assert refused(429, body, **headers).is_retry_requested is is_requested


def test_a_fault_of_the_service_is_unknown_whatever_its_code_says():
    assert refused(500, coded("INSUFFICIENT-CREDITS")).outcome is ErrorOutcome.UNKNOWN
    assert refused(403, coded("GEN-API-ERROR")).outcome is ErrorOutcome.UNKNOWN


def test_an_unverified_email_is_a_409_without_words_in_the_account_area():
    """pitfall_87."""
    assert type(refused(409, b"", "top_up.get")) is errors.EmailNotVerified
    assert type(refused(409, b"", "faceless.patch")) is errors.Conflict


@pytest.mark.parametrize(
    "body",
    [
        coded("INSUFFICIENT-CREDITS", required=412, available="388.5"),
        {"error": {"code": "INSUFFICIENT-CREDITS"}, "required": 412, "available": 388.5},
        {"error": {"details": {"required": "412", "available": 388.5}}},
        {"data": {"required": 412, "available": 388.5}},
    ],
)
def test_a_shortfall_is_found_wherever_it_stands(body):
    """pitfall_58."""
    error = refused(402, body)
    assert (error.required, error.available) == (Decimal(412), Decimal("388.5"))
    assert error.user_message.startswith("It needs 412 cr; the account has 388.5. ")


def test_a_shortfall_without_numbers_still_makes_a_sentence():
    assert "does not have enough credits" in refused(402).user_message


def test_validation_errors_carry_their_fields():
    body = {"message": "Invalid", "errors": {"topic": ["Too long.", "Too dull."], "type": "No."}}
    error = refused(422, body)
    assert error.outcome is ErrorOutcome.REFUSED
    assert error.fields == {"topic": ["Too long.", "Too dull."], "type": ["No."]}
    assert error.detail == "Invalid"


def test_missing_images_are_distinguished_from_other_fields():
    error = refused(422, {"errors": {"assets": ["required"]}}, "url_to_video.render")
    assert type(error) is errors.AssetsMissing


def test_a_429_of_the_token_is_distinguished_from_one_of_the_operation():
    """pitfall_27: the scraping pool is empty, the token is not."""
    limit = {"X_RateLimit_Limit": "30"}
    pool = refused(429, b"", "faceless.scrape_script", X_RateLimit_Remaining="12", **limit)
    window = refused(429, b"", "faceless.scrape_script", X_RateLimit_Remaining="0", **limit)
    assert (pool.is_token_wide, window.is_token_wide, refused(429).is_token_wide) == (
        False,
        True,
        True,
    )
    assert not pool.retry_safe  # it charges
    assert pool.user_message != window.user_message
    assert pool.allowance.remaining == 12


@each_case(
    "headers, seconds",
    [
        ({"Retry_After": "7"}, 7),
        ({"Retry_After": "7", "X_RateLimit_Reset": "9999999999"}, 7),
        ({"X_RateLimit_Reset": str(DATE_UNIX + 23), "Date": DATE}, 23),
        ({"X_RateLimit_Reset": str(DATE_UNIX - 23), "Date": DATE}, 0),
        ({"Retry_After": "Fri, 20 Nov 2026 12:01:00 GMT", "Date": DATE}, 60),
        ({"Retry_After": "99999999"}, 3600),
        ({"X_RateLimit_Reset": str(DATE_UNIX)}, None),
        ({"Retry_After": "-3", "Date": DATE}, None),
        ({"Retry_After": "soon"}, None),
        ({}, None),
    ],
)
def test_how_long_to_wait_is_read_without_our_own_clock(headers, seconds):
    """pitfall_24."""
    assert refused(429, b"", **headers).retry_after == seconds


@pytest.mark.parametrize(
    ("name", "safe"),
    [("faceless.get", True), ("faceless.scrape_images", True), ("faceless.scripts", False)],
)
def test_an_unknown_outcome_is_repeated_only_where_that_is_free(name, safe):
    """pitfall_37, pitfall_38."""
    error = refused(500, b"", name)
    assert error.retry_safe is safe
    assert ("Nothing was charged" in error.user_message) is safe


def test_the_text_of_an_error_is_ours_and_its_words_are_in_detail():
    error = refused(422, {"message": "<script>sbx_canary</script>\r\n\0x"})
    assert str(error) == "faceless.render: INVALID (422)"
    assert error.detail == "<script>sbx_canary</script> x"
    assert "canary" not in repr(error)


def test_an_error_survives_the_way_between_processes():
    error = refused(402, coded("INSUFFICIENT-CREDITS", required=5, available=1))
    twin = pickle.loads(pickle.dumps(error))  # noqa: S301 - it was pickled one line ago
    assert (type(twin), str(twin), twin.required) == (type(error), str(error), Decimal(5))
