"""The page: what the team owns, filtered, sorted and paged; what is new and what was used."""

from __future__ import annotations

import gzip
import re
from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from dashboard.models import DraftOrigin, Membership
from proxyapi.models import ChargeState, Idea, IdeaRefresh, Job, JobState, Token
from tests.dashboard.ideas.conftest import (
    HTMX,
    Browser,
    make_ideas,
    make_search,
    text_of,
)
from tests.factories import AccountFactory, JobFactory

URL = "/ideas/"


def titles(response: Any) -> list[str]:
    return re.findall(r'class="table__main"><bdi>([^<]*)</bdi>', response.content.decode())


def use(idea: Any, token: Token, **fields: Any) -> Job:
    job: Job = JobFactory.create(account=token.account, token=token, title=idea.title, **fields)
    DraftOrigin.objects.create(job=job, idea=idea)
    return job


def test_a_team_without_ideas_is_told_so(
    client_of: Browser, token: Token, priya: Membership
) -> None:
    page = text_of(client_of(priya).get(URL))
    assert "The team owns no ideas yet." in page
    assert "No ideas yet" in page and "Nothing is charged until you press Search." in page
    assert "<table" not in page


@pytest.mark.postgresql
def test_ideas_are_listed_by_volume_with_who_found_them(
    client_of: Browser, token: Token, priya: Membership
) -> None:
    search = make_search(token, "lakes")
    make_ideas(token.account, "Deep lakes", "Salt lakes", charge=search)
    make_ideas(token.account, "Owls at noon", keyword="owls", network="myspace")
    Idea.objects.filter(title="Salt lakes").update(volume=None)
    response = client_of(priya).get(URL)
    assert titles(response)[2:] == ["Salt lakes"] and len(titles(response)) == 3
    page = text_of(response)
    assert "The team owns 3 ideas for 2 keywords." in page
    assert "1–3 of 3 ideas" in page and "myspace" in page
    assert "PR</span>" in page and "Priya Raman, </span>" in page


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("keyword=OWLS", ["Owls at noon"]),
        ("network=tiktok", ["Night lakes"]),
        ("q=lakes night", ["Night lakes"]),
        ("q=no such title", []),
        ("used=no", ["Deep lakes", "Night lakes"]),
        ("used=yes", ["Owls at noon"]),
        ("sort=title", ["Deep lakes", "Night lakes", "Owls at noon"]),
        ("sort=found", ["Night lakes", "Owls at noon", "Deep lakes"]),
        ("member=999999", []),
        ("used=maybe&sort=best&member=x&offset=-3", ["Deep lakes", "Owls at noon", "Night lakes"]),
        ("keyword=%00", ["Deep lakes", "Owls at noon", "Night lakes"]),
    ],
)
def test_filters_and_order_are_in_the_address(
    query: str, shown: list[str], client_of: Browser, token: Token, priya: Membership
) -> None:
    now = timezone.now()
    account = token.account
    make_ideas(account, "Deep lakes", found_at=now - timedelta(days=3))
    (owl,) = make_ideas(account, "Owls at noon", keyword="owls", found_at=now - timedelta(days=2))
    (night,) = make_ideas(account, "Night lakes", network="tiktok", found_at=now)
    for idea, volume in ((owl, 700), (night, 600)):
        type(idea).objects.filter(pk=idea.pk).update(volume=volume)
    use(owl, token)
    response = client_of(priya).get(f"{URL}?{query}")
    assert titles(response) == shown
    assert ("No ideas match" in text_of(response)) == (not shown)


def test_more_ideas_are_on_further_pages_and_appended_by_htmx(
    client_of: Browser, token: Token, priya: Membership
) -> None:
    make_ideas(token.account, *(f"Idea {number:02}" for number in range(60)))
    browser = client_of(priya)
    page = text_of(browser.get(URL))
    assert "1–25 of 60 ideas" in page and "/ideas/?offset=25" in page
    second = browser.get(f"{URL}?offset=25")
    assert titles(second)[0] == "Idea 25" and "26–50 of 60 ideas" in text_of(second)
    assert "Back to first page" in text_of(second)
    more = browser.get(f"{URL}?offset=50", headers={**HTMX, "HX-Target": "idea-rows"})
    assert len(titles(more)) == 10 and "1–60 of 60 ideas" in text_of(more)


def test_an_idea_is_new_until_its_reader_has_opened_the_page(
    client_of: Browser, token: Token, priya: Membership, vera: Membership
) -> None:
    make_ideas(token.account, "Deep lakes")
    browser = client_of(priya)
    new = '<span class="badge badge--new">new</span>'
    browser.head(URL)
    assert new in text_of(browser.get(URL, headers=HTMX))
    assert new in text_of(browser.get(URL))
    assert new not in text_of(browser.get(URL))
    assert new in text_of(client_of(vera).get(URL))


@pytest.mark.parametrize(
    ("state", "text", "label"),
    [
        (JobState.DRAFT, "Draft started by Priya today", "Open the draft"),
        (JobState.RUNNING, "Render started by Priya today", "Open the video"),
        (JobState.COMPLETED, "Video made by Priya today", "Open the video"),
        (JobState.FAILED, "Render failed, started by Priya today", "Open the video"),
    ],
)
def test_a_used_idea_leads_to_what_was_made_of_it(
    state: JobState, text: str, label: str, client_of: Browser, token: Token, priya: Membership
) -> None:
    (idea,) = make_ideas(token.account, "Deep lakes")
    finished = state in (JobState.COMPLETED, JobState.FAILED)
    job = use(idea, token, state=state, remote_id="7", started_at=timezone.now(),
              next_poll_at=timezone.now() if state == JobState.RUNNING else None,
              finished_at=timezone.now() if finished else None)  # fmt: skip
    page = text_of(client_of(priya).get(URL))
    assert text in page and label in page and "Make a video</span>" not in page
    Job.objects.filter(pk=job.pk).update(hidden_at=timezone.now())
    assert "Make a video</span>" in text_of(client_of(priya).get(URL))


def test_who_cannot_render_can_look_and_reads_no_price(
    client_of: Browser, token: Token, vera: Membership, thea: Membership
) -> None:
    make_ideas(token.account, "Deep lakes")
    page = text_of(client_of(vera).get(URL))
    assert "Deep lakes" in page and "You can look; producers can make." in page
    assert "Make a video" not in page and "Find ideas" not in page and "Read again" not in page
    assert "Read again" in text_of(client_of(thea).get(URL))


def test_ideas_of_another_team_are_not_shown(
    client_of: Browser, token: Token, priya: Membership
) -> None:
    make_ideas(AccountFactory.create(), "Whales of others")
    assert "Whales" not in text_of(client_of(priya).get(URL))


def test_what_the_service_writes_is_only_text(
    client_of: Browser, token: Token, priya: Membership
) -> None:
    make_ideas(token.account, "<b>Deep</b> {{ lakes }}", keyword="<i>lakes</i>", network="<u>")
    page = text_of(client_of(priya).get(URL))
    assert "&lt;b&gt;Deep&lt;/b&gt; {{ lakes }}" in page
    assert "<b>Deep" not in page and "<i>lakes" not in page and "<u>" not in page


def test_the_age_of_the_list_and_a_failed_reading_are_told(
    client_of: Browser, token: Token, priya: Membership
) -> None:
    make_ideas(token.account, "Deep lakes")
    row = IdeaRefresh.objects.create(account=token.account, read_at=timezone.now())
    assert "Read from the service " in text_of(client_of(priya).get(URL))
    IdeaRefresh.objects.update(error="The service could not be reached. Nothing was sent.")
    page = text_of(client_of(priya).get(URL))
    assert "could not be reached. Nothing was sent. Read from the service" in page
    client_of(priya).post(reverse("idea-refreshes"), {"keyword": "lakes"})
    row.refresh_from_db()
    assert row.requested_at is not None
    IdeaRefresh.objects.update(error="")
    assert "The service’s list is being read." in text_of(client_of(priya).get(URL))


def test_the_page_is_light_while_a_search_runs(
    client_of: Browser,
    token: Token,
    priya: Membership,
    django_assert_max_num_queries: Any,
) -> None:
    for number in range(12):
        ideas = [f"What the lake number {number} hides, part {part}" for part in range(25)]
        make_ideas(token.account, *ideas, keyword=f"lakes {number}", charge=make_search(token, "x"))
    make_search(token, "salt lakes", state=ChargeState.SENDING, cost=None, settled_at=None)
    browser = client_of(priya)
    browser.get(URL)
    with django_assert_max_num_queries(14):
        page = browser.get(URL)
    assert "You can leave this page" in text_of(page) and len(titles(page)) == 25
    assert len(gzip.compress(page.content)) < 20_000
    assert len(browser.get(URL, headers=HTMX).content) < 60_000
