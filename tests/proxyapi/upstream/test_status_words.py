"""What a status word says to an English reader."""

from __future__ import annotations

from proxyapi.upstream.status_words import says_failure, says_in_progress
from tests.cases import each_case

FAILED = (
    "failed FAILED sync-failed timed_out timeout TimeOut model-training-failed preview-failed "
    "cancelled canceled expired rejected aborted error ERROR_42 modelTrainingFailed render-error"
)
GOING_ON = (
    "rendering syncing model-training reviewing pending queued processing retrying-after-error"
)


@each_case("word", [*FAILED.split(), "time out", "Render failed!", "<b>failed</b>"])
def test_plain_english_for_failure_is_a_failure(word):
    assert says_failure(word)


@each_case(
    "word",
    [*GOING_ON.split(), "modified", "ready", "no-error", "failover", "cancelling", "", None, 7, []],
)
def test_other_words_are_none(word):
    assert not says_failure(word)


def test_words_of_work_are_told_from_those_that_say_nothing():
    assert all(says_in_progress(word) for word in GOING_ON.split())
    assert not any(says_in_progress(word) for word in ("modified", "échoué", "", None, "completed"))
