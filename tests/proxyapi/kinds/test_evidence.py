"""What each kind keeps of its resource before a charge, and what proves afterwards that it ran."""

from __future__ import annotations

from typing import Any

from proxyapi.kinds import KINDS
from proxyapi.operations import CHARGING_OPERATIONS, Operation, get_operation
from tests.cases import each_case

FAILURE = {"code": "SCENE-IMAGE", "message": "No picture."}
DRAFT, FAILED = {"video": {"status": "draft"}}, {"video": {"status": "failed", "failure": FAILURE}}
RUNNING, DONE = {"video": {"status": "rendering"}}, {"video": {"status": "completed", "url": "x"}}


def is_proved(operation: str, before: dict[str, Any], after: dict[str, Any]) -> bool:
    row = get_operation(operation)
    spec = KINDS[row.kind or ""]
    return spec.proves(row, spec.snapshot(row, before), after)


@each_case(
    "operation, before, after, proved",
    [
        ("faceless.render", DRAFT, RUNNING, True),
        ("faceless.render", DRAFT, DRAFT, False),
        ("faceless.render", DRAFT, {}, False),
        ("faceless.render", {}, RUNNING, True),
        ("faceless.render", {}, DRAFT, False),
        ("faceless.retry", FAILED, RUNNING, True),
        ("faceless.retry", FAILED, FAILED, False),
        ("faceless.retry", RUNNING, FAILED, False),
        ("faceless.scripts", {"script": "Ice."}, {"script": "Snow."}, True),
        ("faceless.scripts", {"script": "Ice."}, {"script": "Ice."}, False),
        ("faceless.scripts", {"script": "Ice."}, {"script": ""}, False),
        ("faceless.scripts", DRAFT, RUNNING, False),
        ("faceless.export", {"exports": []}, {"exports": [{"id": 1}]}, True),
        ("faceless.export", DONE, DONE, False),
        ("ai_visuals.regenerate", DRAFT, RUNNING, False),
        ("text_to_video.create", {}, {"asset": {"status": "draft"}}, False),
        ("text_to_scene.clips", {"scenes": [{"id": 1}]}, {"scenes": [{"id": 1, "clip": 1}]}, True),
        ("text_to_scene.clips", {"scenes": [{"id": 1}]}, {"scenes": [{"id": 1}]}, False),
        ("text_to_scene.render", DRAFT, RUNNING, True),
        ("voice_clones.create", {"available": 2}, {"available": 1}, True),
        ("voice_clones.create", {"available": 0}, {"available": 0}, False),
        ("voice_clones.create", {}, {"available": 1}, False),
        ("characters.train", {"status": "draft"}, {"status": "training"}, True),
        ("characters.preview", {"previews": []}, {"previews": [{"id": 1}]}, True),
    ],
)
def test_what_differs_from_before_proves_it(operation, before, after, proved):
    assert is_proved(operation, before, after) is proved


@each_case(
    "operation, before, enough",
    [
        ("faceless.render", DRAFT, False),
        ("faceless.render", DONE, True),
        ("faceless.scripts", DONE, False),
        ("faceless.retry", FAILED, True),
        ("text_to_video.create", {}, True),
        ("text_to_scene.prompt", DRAFT, True),
        ("voice_clones.create", {"available": 1}, False),
        ("voice_clones.create", {"available": 0}, True),
        ("characters.train", {"status": "draft"}, False),
        ("characters.train", {"status": "ready"}, True),
    ],
)
def test_a_debit_alone_is_enough_where_the_read_may_show_nothing(operation, before, enough):
    row = get_operation(operation)
    spec = KINDS[row.kind or ""]
    assert spec.is_debit_enough(row, spec.snapshot(row, before)) is enough


def test_a_failure_is_kept_because_a_retry_clears_it():
    row = get_operation("faceless.retry")
    assert KINDS["faceless"].snapshot(row, FAILED)["failure"] == FAILURE
    assert KINDS["faceless"].snapshot(row, RUNNING)["failure"] is None


@each_case("row", [row for row in map(get_operation, CHARGING_OPERATIONS) if row.kind])
def test_nothing_is_proved_by_an_unchanged_or_empty_record(row: Operation):
    spec = KINDS[row.kind or ""]
    for record in (
        {},
        DRAFT,
        FAILED,
        DONE,
        {"status": "ready"},
        {"available": 1},
        {"script": "Ice."},
    ):
        kept = spec.snapshot(row, record)
        assert not spec.proves(row, kept, {})
        if spec.reported_status(row, record):
            assert not spec.proves(row, kept, record)


def test_a_faceless_record_is_found_one_level_down():
    record = {"id": 7, "script": "Ice."}
    for data in (record, {"faceless": record}):
        assert KINDS["faceless"].resource_in(data) == record
    assert KINDS["clip"].resource_in([1]) == {}
