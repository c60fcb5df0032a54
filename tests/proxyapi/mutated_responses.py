"""True answers, taken apart: names lost or new, words unknown, other types, nulls, HTML, too much.

`REELROOM_EXAMPLES=5000` sets for the drill how many of them each test draws.
"""

from __future__ import annotations

import copy
import json
import os
from typing import Any, NamedTuple

import httpx
from hypothesis import strategies as some

from tests.proxyapi.spec_oracle import FAILING_PARTS
from tests.proxyapi.upstream.test_mutated_answers import leaves

EXAMPLES = int(os.environ.get("REELROOM_EXAMPLES", "10"))


def count_poll_examples(examples: int) -> int:
    """Of `examples`, how many each kind of job is polled with, with its rows and its page."""
    return max(3, examples // 25)


def count_dispatch_examples(examples: int) -> int:
    """Of `examples`, how many each charging operation is answered with."""
    return max(2, examples // 110)


HTML = "<!doctype html><title>Back soon</title><h1>502</h1>"
WORDS = ["", "syncing", "<b>failed</b>", "FAILED", "done", "completed ", "x" * 5000, "\0", "NaN"]
WORDS += [
    "sync-failed",
    "timed_out",
    "model-training-failed",
    "modified",
    "fehlgeschlagen",
    "échoué",
]
# Words are put together of these; with one of the failing parts they say failure.
NEUTRAL_PARTS = ["sync", "pose", "model", "training", "render", "queue", "modified", "done", "ok"]
NEUTRAL_PARTS += ["bereit", "v2", "42", "completed", "ready", "\u5b8c\u6210"]
NO_WORDS = [None, 7, ["failed"], {"status": "failed"}, True]
# Of the words that end something, those of another kind: each may stand where it means nothing.
ENDS = ["completed", "success", "ready", "failed"]
TOO_DEEP = b"[" * 50  # what stands in a body with the deepest of these, and in no other


def nested_json(levels: int) -> Any:
    value: Any = "completed"
    for _ in range(levels):
        value = [value]
    return value


HUGE = ["x" * 2**20, HTML * 20_000, [{"id": 1, "status": "failed"}] * 10_000, nested_json(200)]
values = leaves | some.lists(leaves, max_size=3) | some.dictionaries(some.text(max_size=5), leaves)
STRANGE = some.sampled_from(WORDS) | some.sampled_from(ENDS) | some.sampled_from(HUGE) | values


@some.composite
def words(draw: some.DrawFn) -> str:
    """A status word of one to four parts, in one of the usual ways to write several."""
    parts = some.sampled_from([*NEUTRAL_PARTS, *FAILING_PARTS])
    chosen = draw(some.lists(parts, min_size=1, max_size=4))
    joined = draw(some.sampled_from(["-", "_", " ", ".", ": "])).join(chosen)
    return draw(some.sampled_from([joined, joined.upper(), joined.title()]))


@some.composite
def mutated_records(draw: some.DrawFn, record: Any) -> Any:
    """A true record with one to four wounds."""
    made = copy.deepcopy(record)
    for _ in range(draw(some.integers(1, 4))):
        is_word = draw(some.integers(0, 2)) == 0
        made = change_statuses(draw, made) if is_word else mutate_one_place(draw, made)
    return made


def change_statuses(draw: some.DrawFn, value: Any) -> Any:
    """Each status in it is another word: a wound by chance seldom hits just there."""
    if not isinstance(value, dict):
        return value
    other = {name: change_statuses(draw, one) for name, one in value.items()}
    if isinstance(value.get("status"), str):
        other["status"] = draw(some.sampled_from(ENDS + WORDS + NO_WORDS) | words())
    return other


def mutate_one_place(draw: some.DrawFn, value: Any) -> Any:
    """One place of it, at any depth, is another."""
    if isinstance(value, dict) and value and draw(some.integers(0, 9)):
        name = draw(some.sampled_from(sorted(value)))
        what = draw(some.sampled_from(["in it", "lost", "renamed", "more"]))
        if what == "in it":
            return {**value, name: mutate_one_place(draw, value[name])}
        rest = {key: one for key, one in value.items() if key != name}
        if what == "renamed":
            return {**rest, draw(some.text(max_size=8)): value[name]}
        return rest if what == "lost" else {**value, draw(some.text(max_size=8)): draw(values)}
    if isinstance(value, list) and value and draw(some.booleans()):
        return [mutate_one_place(draw, value[0]), *value[1:]] * draw(some.integers(1, 3))
    return draw(STRANGE)


class MutatedResponse(NamedTuple):
    """An answer of 2xx. `top`: what its body holds as JSON, None where it is none; without NUL, of
    which no word consists, and which no database takes.

    `is_plain`: the wounds are in `data` alone, and none makes the whole unreadable.
    """

    response: httpx.Response
    top: Any
    is_plain: bool


@some.composite
def mutated_responses(draw: some.DrawFn, data: Any, meta: Any = None) -> MutatedResponse:
    """A true answer with wounds in its data, in its envelope, or with no JSON at all."""
    status = draw(some.sampled_from([200, 200, 200, 201, 202, 204]))
    true = {"message": "OK", "status": status, "data": data, "meta": meta or {}}
    where = draw(some.sampled_from(["data", "data", "envelope", "body"]))
    if where == "body":
        return MutatedResponse(
            httpx.Response(status, content=draw(invalid_bodies(true))), None, False
        )
    top = (
        {**true, "data": draw(mutated_records(data))}
        if where == "data"
        else draw(mutated_records(true))
    )
    content = json.dumps(top).encode()
    is_plain = where == "data" and status != 204 and TOO_DEEP not in content
    kept = json.loads(content.replace(rb"\u0000", b""))
    return MutatedResponse(httpx.Response(status, content=content), kept, is_plain)


def invalid_bodies(true: Any) -> some.SearchStrategy[bytes]:
    """What is no JSON: a page of a proxy, half an answer, noise, more than anybody reads."""
    whole = json.dumps(true).encode()
    large = [HTML, HTML * 20_000, '"' + "x" * 2**20, "[" * 200]
    return (
        some.sampled_from(large).map(str.encode)
        | some.integers(0, len(whole) - 1).map(lambda end: whole[:end])
        | some.binary(max_size=50).map(lambda noise: b"\xff" + noise)
    )
