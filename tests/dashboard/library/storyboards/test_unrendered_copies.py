"""A copy of a storyboard of which no film was requested is no video anywhere."""

from __future__ import annotations

import pytest
from django.utils import timezone

from dashboard.library.changes import changed_videos_context
from dashboard.library.queries.filters import LibraryFilters
from dashboard.library.queries.video_list import load_library_page
from dashboard.parts.changes import changed_parts_context
from dashboard.shared.team_balance import load_balance_and_counts
from dashboard.shared.videos.cards import with_card_relations
from proxyapi.models import Job
from tests.dashboard.library.storyboards.conftest import CLIPS, RENDER, WRITING

pytestmark = pytest.mark.postgresql

OTHER_STATES = ["running", "completed", "failed"]


def titles(reader, **query):
    page = load_library_page(reader, LibraryFilters.parse(query))
    return [card.title for _, cards in page["groups"] for card, _ in cards]


@pytest.mark.parametrize("query", [{}, {"state": "drafts"}, {"type": "storyboard"}, {"q": "train"}])
def test_the_library_does_not_list_it(query, make_film, vera):
    make_film("draft")
    assert titles(vera, **query) == []


def test_the_library_counts_it_in_no_tab(make_film, vera):
    make_film("draft")
    page = load_library_page(vera, LibraryFilters.parse({}))
    assert {tab.total for tab in page["tabs"]} == {0}
    assert page["is_empty"]


def test_a_hidden_one_is_not_listed_either(make_film, vera):
    make_film("draft", hidden_at=timezone.now())
    assert titles(vera, state="hidden") == []


@pytest.mark.parametrize("state", OTHER_STATES)
def test_a_film_is_listed(state, make_film, vera):
    make_film(state)
    assert titles(vera) == ["Night train north"]


@pytest.mark.parametrize("state", ["held", "sending", "unknown"])
def test_a_film_that_is_requested_is_listed(state, make_film, add_open_charge, vera):
    add_open_charge(make_film("draft"), state, operation=RENDER)
    assert titles(vera) == ["Night train north"]


@pytest.mark.parametrize("operation", [CLIPS, WRITING])
def test_what_is_unknown_of_its_scenes_is_no_unknown_video(
    operation, make_film, add_open_charge, vera
):
    add_open_charge(make_film("draft"), "unknown", operation=operation)
    counts = load_balance_and_counts(vera.team.tenant)[1]
    assert (counts.unknown, counts.holding) == (0, 1)
    assert titles(vera, state="unknown") == []


def test_its_page_among_the_videos_is_the_editor(make_film, storyboard, vera, client_of):
    answer = client_of(vera).get(f"/videos/{make_film('draft').pk}/")
    assert answer.url == f"/studio/storyboards/{storyboard.pk}/"


def test_the_page_of_a_requested_film_is_its_own(make_film, add_open_charge, vera, client_of):
    job = make_film("draft")
    add_open_charge(job, "unknown", operation=RENDER)
    page = client_of(vera).get(f"/videos/{job.pk}/").content.decode()
    assert "We do not know whether 42 cr were spent." in page


def test_of_a_hidden_storyboard_it_is_a_plain_page(make_film, storyboard, vera, client_of):
    job = make_film("draft")
    type(storyboard).objects.update(hidden_at=timezone.now())
    assert client_of(vera).get(f"/videos/{job.pk}/").status_code == 200


def test_one_that_a_script_made_has_a_plain_page(make_film, vera, client_of):
    job = make_film("draft")
    job.storyboard_copy.delete()
    job.draft.delete()
    assert client_of(vera).get(f"/videos/{job.pk}/").status_code == 200


def test_nothing_is_pushed_for_it(make_film, vera):
    draft, film = make_film("draft"), make_film("running")
    jobs = list(with_card_relations(Job.objects.filter(pk__in=[draft.pk, film.pk])))
    tenant = vera.team.tenant
    videos = changed_videos_context(tenant, jobs)["videos"]
    assert [video.card.id for video in videos] == [film.pk]  # type: ignore[attr-defined]
    assert changed_parts_context(tenant, jobs) == {"part_job_ids": [film.pk]}


def test_it_cannot_be_chosen_with_others(make_film, priya, client_of):
    job = make_film("draft")
    answer = client_of(priya).post("/library/selection/hide/", {"video": str(job.pk)})
    assert answer.status_code == 404
    assert Job.objects.get(pk=job.pk).hidden_at is None


def test_the_studio_does_not_list_it(make_film, priya, client_of):
    make_film("draft")
    assert "Night train north" not in client_of(priya).get("/studio/drafts/").content.decode()


def test_the_overview_does_not_show_it(make_film, priya, client_of):
    make_film("draft")
    assert "Night train north" not in client_of(priya).get("/").content.decode()
