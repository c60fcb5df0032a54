"""What an answer says of a job of each kind; what is not understood is not known (rule 6)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxyapi.kinds import KINDS
from proxyapi.models import JobKind, JobState
from tests.examples import examples


def test_every_kind_is_declared_and_polled_by_its_own_read() -> None:
    assert {kind: spec.read_operation for kind, spec in KINDS.items()} == {
        JobKind.FACELESS: "faceless.get",
        JobKind.CLIP: "text_to_video.get",
        JobKind.STORYBOARD: "text_to_scene.get",
        JobKind.CLONE: "voice_clones.get",
        JobKind.CHARACTER: "characters.get",
    }


@pytest.mark.parametrize(
    ("kind", "record"),
    [
        (JobKind.CLONE, {"id": 5, "status": "completed", "preview_url": "http://127.0.0.1/a.mp3"}),
        (JobKind.CHARACTER, {"id": 5, "status": "ready"}),
    ],
)
def test_a_record_is_read_whether_it_stands_alone_or_under_a_name(kind: str, record: Any) -> None:
    """The spec names its fields and not where they stand (pitfall 5)."""
    for data in (record, {"record": record}):
        assert KINDS[kind].read_status(data).state == JobState.COMPLETED
    assert (
        KINDS[kind].read_status({"status": "pending", "record": record}).state == JobState.RUNNING
    )
    assert KINDS[kind].read_status({"a": record, "b": {}}).state is None


def test_a_storyboard_whose_file_the_service_does_not_show_is_done() -> None:
    """The spec names its `completed` and no address; one that is shown empty is still to come."""
    for video, state in (
        ({"status": "completed"}, JobState.COMPLETED),
        ({"status": "completed", "url": "http://127.0.0.1/a.mp4"}, JobState.COMPLETED),
        ({"status": "completed", "url": None}, JobState.RUNNING),
    ):
        assert (
            KINDS[JobKind.STORYBOARD].read_status({"id": 3, "scenes": [], "video": video}).state
            == state
        )
    assert (
        KINDS[JobKind.FACELESS].read_status({"video": {"status": "completed"}}).state
        == JobState.RUNNING
    )


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["video", "asset", "status", "url", "failure"]), inner)
    ),
    max_leaves=10,
)


@settings(max_examples=examples(20, 1000))
@given(kind=st.sampled_from(JobKind.values), data=json_values)
def test_no_answer_makes_reading_fail_or_invents_an_end(kind: str, data: Any) -> None:
    sight = KINDS[kind].read_status(data)
    if sight.state == JobState.COMPLETED:
        assert sight.raw_status in {"completed", "success", "ready"}
    if sight.state == JobState.FAILED:
        assert sight.raw_status == "failed"
