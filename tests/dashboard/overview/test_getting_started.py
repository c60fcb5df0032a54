"""The card of the first steps: whose, until when, and hidden by a press."""

from __future__ import annotations

import pytest
from django.urls import reverse

from proxyapi.models import Job, TokenState
from tests.dashboard.overview.conftest import video
from tests.factories import InvitationFactory, TokenFactory

EMPTY = "appear here when a member adds the first token"
CARD, PART = "Getting started", "/?part=getting_started"


@pytest.fixture
def shown(client_of):
    def read(reader, url="/"):
        return client_of(reader).get(url).content.decode()

    return read


def test_an_owner_alone_begins_with_the_token(mira, shown):
    page = shown(mira)
    assert CARD in page
    assert "0 of 3 done" in page
    assert "Add a token" in page
    assert EMPTY not in page


def test_what_was_done_is_ticked_and_the_next_step_is_marked(mira, account, shown):
    TokenFactory.create(account=account, owner=mira.user)
    page = shown(mira)
    assert "1 of 3 done" in page
    assert page.index('aria-current="step"') < page.index("Make your first video")
    assert "4,318" in page


def test_invitations_are_counted_but_complete_nothing(mira, shown):
    for name in ("jonas", "priya"):
        InvitationFactory.create(team=mira.team, address=f"{name}@northlight.example")
    page = shown(mira, PART)
    assert "2 invitations are open, nobody has joined yet." in page
    assert "0 of 3 done" in page


@pytest.mark.parametrize("role", ["mira", "jonas"])
def test_with_all_three_steps_done_the_card_is_gone(role, request, token, priya, shown):
    reader = request.getfixturevalue(role)
    assert CARD in shown(reader)
    video(token, state="completed")
    assert CARD not in shown(reader)
    assert CARD not in shown(reader, PART)


def test_a_draft_is_no_video_yet(mira, token, shown):
    video(token, state="draft")
    assert "2 of 3 done" in shown(mira)


def test_a_producer_has_steps_of_their_own(luca, token, shown):
    """Priya has a token and a video; Luca has not."""
    video(token, state="completed")
    page = shown(luca)
    assert "0 of 3 done" in page
    for step in ("Add your token", "Make your first video", "Watch it render"):
        assert step in page
    assert "Invite your team" not in page


def test_a_producers_steps_end_with_the_finished_video(priya, token, shown):
    job = video(token, state="failed")
    assert "2 of 3 done" in shown(priya)
    Job.objects.filter(pk=job.pk).update(state="completed")
    assert CARD not in shown(priya)


def test_a_removed_token_is_to_be_added_again(priya, token, shown):
    video(token, state="completed")
    token.state = TokenState.REMOVED
    token.save()
    assert "2 of 3 done" in shown(priya)


@pytest.mark.django_db
@pytest.mark.parametrize("role", ["thea", "vera"])
def test_who_renders_nothing_has_no_first_steps(role, request, shown):
    reader = request.getfixturevalue(role)
    assert CARD not in shown(reader)
    assert shown(reader, PART).strip() == ""


def test_each_person_hides_it_for_themselves(mira, jonas, client_of, shown):
    answer = client_of(mira).post(reverse("getting-started-hide"))
    assert answer.url == reverse("overview")
    assert CARD not in shown(mira)
    assert EMPTY in shown(mira)
    assert CARD in shown(jonas)


def test_another_team_completes_nothing(mira, otto, token, shown):
    video(token, state="completed")
    assert "0 of 3 done" in shown(otto)
