"""New from this: a draft with the settings of any video that has some, free of charge."""

from __future__ import annotations

import pytest

from proxyapi.models import Charge, Job, JobState
from tests.factories import TokenFactory


@pytest.fixture
def luca_token(account, luca):
    return TokenFactory.create(account=account, owner=luca.user)


def test_a_copy_is_a_new_draft_with_the_same_settings(ready, luca, luca_token, client_of):
    Job.objects.filter(pk=ready.pk).update(state=JobState.COMPLETED, media_url="https://x/film.mp4")
    answer = client_of(luca).post(f"/studio/{ready.pk}/copies/")
    copy = Job.objects.exclude(pk=ready.pk).get()
    assert answer["Location"] == f"/studio/{copy.pk}/review/"
    assert (copy.state, copy.remote_id, copy.member, copy.token) == (
        JobState.DRAFT,
        None,
        luca.user,
        luca_token,
    )
    assert copy.draft.settings == ready.draft.settings
    assert copy.draft.quote_due_at is not None
    assert not Charge.objects.exists()


def test_without_a_token_it_says_so_and_makes_nothing(ready, luca, client_of):
    page = client_of(luca).post(f"/studio/{ready.pk}/copies/", follow=True).content.decode()
    assert "You have no token yet." in page
    assert Job.objects.count() == 1


def test_a_video_without_settings_cannot_be_copied(ready, priya, client_of):
    ready.draft.delete()
    assert client_of(priya).post(f"/studio/{ready.pk}/copies/").status_code == 404
