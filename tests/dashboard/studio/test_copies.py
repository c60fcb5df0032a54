"""A copy of a draft: its settings in a new draft, for the same or another type."""

from __future__ import annotations

import pytest

from dashboard.models import AuditAction, AuditEvent, Membership
from dashboard.studio.actions import copy_draft
from proxyapi.models import Draft, Job, JobState
from proxyapi.refusals import NotReady, TokenRefused
from tests.dashboard.studio.conftest import WANTED


def test_a_copy_has_the_settings_and_asks_for_a_price(priya: Membership, ready: Job) -> None:
    copy = copy_draft(by=priya, job=ready)
    copy.refresh_from_db()
    assert (copy.pk != ready.pk, copy.title, copy.state) == (True, ready.title, JobState.DRAFT)
    assert copy.remote_id is None
    draft = copy.draft
    assert (draft.settings, draft.sent_settings) == ({**WANTED, "title": ready.title}, {})
    assert draft.estimate is None
    assert draft.quote_due_at is not None
    assert AuditEvent.objects.get(action=AuditAction.DRAFT_START).target == str(copy.pk)


def test_a_copy_of_a_rendered_video_is_free_and_leaves_the_video(
    priya: Membership, ready: Job
) -> None:
    Job.objects.filter(pk=ready.pk).update(state=JobState.COMPLETED)
    ready.refresh_from_db()
    copy = copy_draft(by=priya, job=ready)
    ready.refresh_from_db()
    assert (ready.state, copy.state) == (JobState.COMPLETED, JobState.DRAFT)
    assert not copy.charges.exists()


def test_a_copy_for_another_type_leaves_out_what_the_type_has_not(
    priya: Membership, ready: Job
) -> None:
    chosen = copy_draft(by=priya, job=ready, type_="b-roll").draft.settings
    assert chosen["type"] == "b-roll"
    assert chosen.keys() == WANTED.keys() - {"genre_id", "image_engine_id"}
    ready.refresh_from_db()
    assert ready.draft.settings == WANTED


def test_an_incomplete_copy_asks_for_no_price(priya: Membership, draft: Job) -> None:
    assert copy_draft(by=priya, job=draft).draft.quote_due_at is None


def test_a_copy_needs_settings_and_an_own_token(
    priya: Membership, luca: Membership, ready: Job
) -> None:
    with pytest.raises(TokenRefused):
        copy_draft(by=luca, job=ready)
    Draft.objects.all().delete()
    ready.refresh_from_db()
    with pytest.raises(NotReady, match="not known here"):
        copy_draft(by=priya, job=ready)
    assert Job.objects.count() == 1
