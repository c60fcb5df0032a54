"""No answer, however mutated, makes anything but a Reply or an UpstreamError.

`REELROOM_EXAMPLES=5000` sets the number of answers for the drill.
"""

from __future__ import annotations

import json
import os

from hypothesis import given, settings
from hypothesis import strategies as some

from proxyapi.operations import OPERATIONS
from proxyapi.upstream import envelope
from proxyapi.upstream.errors import ErrorOutcome, UpstreamError
from proxyapi.upstream.reply import Reply

EXAMPLES = int(os.environ.get("REELROOM_EXAMPLES", "20"))

leaves = (
    some.none()
    | some.booleans()
    | some.integers()
    | some.floats()
    | some.text(max_size=20)
    | some.sampled_from(["INSUFFICIENT-CREDITS", "GEN-FORBIDDEN", "1e999999", "NaN", "-12.50", ""])
)
NAMES = [
    *("data", "meta", "error", "errors", "message", "status", "links", "credits", "code"),
    *("cost", "remaining", "required", "available", "details", "video", "asset"),
]
HEADERS = [
    *("Retry-After", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"),
    *("Date", "Allow", "Content-Type", "Content-Encoding", "x-odd"),
]
names = some.sampled_from(NAMES) | some.text(max_size=8)
values = some.recursive(
    leaves, lambda inner: some.lists(inner) | some.dictionaries(names, inner), max_leaves=25
)
bodies = (
    values.map(lambda value: json.dumps(value).encode())
    | some.dictionaries(names, values).map(lambda value: json.dumps(value).encode())
    | some.binary(max_size=200)
)
headers = some.dictionaries(
    some.sampled_from(HEADERS),
    some.text(max_size=30)
    | some.integers().map(str)
    | some.sampled_from(["gzip", "deflate", "br", "Fri, 20 Nov 2026 12:00:00 GMT", "30"]),
)
statuses = some.integers(100, 599) | some.sampled_from([200, 201, 202, 204, 402, 403, 422, 429])


@settings(max_examples=EXAMPLES)
@given(some.sampled_from(list(OPERATIONS.values())), statuses, headers, bodies, some.data())
def test_any_answer_is_a_reply_or_an_error_of_ours(row, status, head, body, data):
    cut = body[: data.draw(some.integers(0, len(body)))] if data.draw(some.booleans()) else body
    try:
        reply = envelope.parse_response(row, status, head, cut)
    except UpstreamError as error:
        assert not 200 <= status < 300 or error.outcome is ErrorOutcome.UNKNOWN
        assert error.user_message.endswith(".")
        assert str(error).startswith(row.name)
        assert error.retry_after is None or 0 <= error.retry_after <= 3600
    else:
        assert 200 <= status < 300
        assert isinstance(reply, Reply)
