"""Scripted outcomes of one word: the last word of a job, which comes at its end."""

from __future__ import annotations

import pytest

from tests.contract import staging
from tests.sandbox.conftest import READY_SETTINGS

FAILURE = {"code": "NO-LUCK", "message": "It was not to be."}


def test_a_render_that_is_to_fail_is_busy_until_it_has_failed(sandbox):
    number = sandbox.draft(**READY_SETTINGS)
    sandbox.post("/_sandbox/outcomes", {"statuses": ["failed"], "failure": FAILURE})
    sandbox.post(f"/v2/faceless/{number}/render")
    assert sandbox.video(number) == {"status": "rendering", "url": None, "failure": None}
    assert sandbox.post(f"/v2/faceless/{number}/retry").status_code == 403
    sandbox.advance(60)
    assert sandbox.video(number) == {"status": "failed", "url": None, "failure": FAILURE}
    assert sandbox.post(f"/v2/faceless/{number}/retry").status_code == 202


@pytest.mark.parametrize(("word", "refunds"), [("success", 0), ("failed", 1)])
def test_a_clip_is_a_draft_before_its_only_word(sandbox, word, refunds):
    sandbox.post("/_sandbox/outcomes", {"kind": "text-to-video", "statuses": [word]})
    asset = sandbox.post("/v2/text-to-video", staging.CLIP).json()["data"]["asset"]
    sandbox.advance(1)
    path = f"/v2/text-to-video/{asset['id']}"
    assert sandbox.get(path).json()["data"]["asset"]["status"] == "draft"
    assert sandbox.money()["refunds"] == []
    sandbox.advance(60)
    assert sandbox.get(path).json()["data"]["asset"]["status"] == word
    assert len(sandbox.money()["refunds"]) == refunds


def test_a_running_job_stays_at_its_word_until_the_only_one_comes(sandbox):
    number = sandbox.draft(**READY_SETTINGS)
    sandbox.post(f"/v2/faceless/{number}/render")
    sandbox.advance(5.5)
    assert sandbox.video(number)["status"] == "syncing"
    sandbox.post("/_sandbox/outcomes", {"id": number, "statuses": ["failed"]})
    assert sandbox.video(number)["status"] == "syncing"
    sandbox.advance(60)
    assert sandbox.video(number)["status"] == "failed"
