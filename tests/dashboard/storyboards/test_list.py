"""The team's storyboards: how far each is, filters, duplicates, deletion and its undo."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.messages import get_messages
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from dashboard.models import Membership
from dashboard.storyboards.actions import place_in_copy
from dashboard.storyboards.queries.list import (
    StoryboardFilters,
    load_storyboards,
)
from proxyapi import stored_files
from proxyapi.kinds import scenes_by_id
from proxyapi.models import ChargeState, Job, JobState, Storyboard, Token
from proxyapi.models.job_part import JobPart, PartState
from tests.factories import ChargeFactory
from tests.storyboards import add_scene, create_storyboard, mark_as_sent

pytestmark = pytest.mark.postgresql

Browser = Callable[[Membership], Any]
HTMX = {"HX-Request": "true"}
CLIPS, RENDER = "text_to_scene.clips", "text_to_scene.render"


def first_row(reader: Membership, **filters: Any) -> dict[str, Any]:
    return load_storyboards(reader, StoryboardFilters(**filters))["rows"][0]


def titles(reader: Membership, **filters: Any) -> list[str]:
    table = load_storyboards(reader, StoryboardFilters(**filters))
    return [row["storyboard"].title for row in table["rows"]]


def place_with_clips(by: Membership, storyboard: Storyboard, *states: PartState) -> Job:
    """As if the service had the storyboard, with a clip in each state for its first scenes."""
    job = place_in_copy(by=by, storyboard=storyboard)
    mark_as_sent(job)
    sent = scenes_by_id(job.draft.sent_settings).values()
    for scene, state in zip(sent, states, strict=False):
        part = {"list_name": "scenes", "remote_id": str(scene["remote_id"]), "position": 1}
        url = "http://127.0.0.1:8001/media/clip.mp4" if state == PartState.COMPLETED else ""
        part |= {"status": state, "media_url": url, "read_at": timezone.now()}
        JobPart.objects.create(job=job, **part)
    return job


def test_nobody_has_a_storyboard_yet(
    priya: Membership, vera: Membership, client_of: Browser
) -> None:
    page = client_of(priya).get(reverse("storyboards")).content.decode()
    assert "No storyboards" in page and page.count("New storyboard") == 2
    page = client_of(vera).get(reverse("storyboards")).content.decode()
    assert "Storyboards of the team appear here." in page and "New storyboard" not in page


def test_a_row_says_what_its_film_lacks(priya: Membership, token: Token) -> None:
    storyboard = create_storyboard(priya, token)
    assert first_row(priya)["missing"] == "Scenes"
    add_scene(storyboard, "Boats leave the harbour")
    add_scene(storyboard, "", duration=20)
    row = first_row(priya)
    assert (row["scenes"], row["length"], row["clips"]) == (2, "25 s", "0 of 2")
    assert (row["glyph"], row["missing"]) == ("late", "1 duration, 1 prompt, 1 clip")
    assert row["kind_line"] == "Brook, 16:9, 720p"


@pytest.mark.parametrize(
    ("states", "clips", "glyph", "missing"),
    [
        (("completed", "completed"), "2 of 2", "completed", "Nothing, ready to render"),
        (("completed", "failed"), "1 of 2", "late", "1 clip"),
        (("completed", "running"), "1 of 2", "running", "1 clip being generated"),
    ],
)
def test_clips_count_as_far_as_they_are(
    states: tuple[str, ...],
    clips: str,
    glyph: str,
    missing: str,
    priya: Membership,
    token: Token,
) -> None:
    storyboard = create_storyboard(priya, token, "One", "Two")
    place_with_clips(priya, storyboard, *map(PartState, states))
    row = first_row(priya)
    assert (row["clips"], row["glyph"], row["missing"]) == (clips, glyph, missing)


def test_a_clip_whose_order_is_not_known_says_so(priya: Membership, token: Token) -> None:
    storyboard = create_storyboard(priya, token, "One")
    job = place_with_clips(priya, storyboard)
    body = {"scenes": [str(storyboard.scenes.get().pk)]}
    lost = {"state": ChargeState.UNKNOWN, "sent_at": timezone.now()}
    ChargeFactory.create(job=job, operation=CLIPS, body=body, **lost)
    row = first_row(priya)
    assert (row["glyph"], row["missing"]) == ("unknown", "1 clip not known")


@pytest.mark.parametrize(
    ("state", "label", "missing"),
    [
        (JobState.RUNNING, "Rendering", "The film is rendering"),
        (JobState.COMPLETED, "Watch", "Nothing, the film is there"),
        (JobState.FAILED, "Failed", "Nothing, ready to render"),
    ],
)
def test_the_film_is_linked(
    state: JobState, label: str, missing: str, priya: Membership, token: Token, client_of: Browser
) -> None:
    storyboard = create_storyboard(priya, token, "One")
    job = place_with_clips(priya, storyboard, PartState.COMPLETED)
    job.state, job.started_at = state, timezone.now()
    job.finished_at = None if state == JobState.RUNNING else timezone.now()
    job.next_poll_at = timezone.now() if state == JobState.RUNNING else None
    job.save()
    assert first_row(priya)["missing"] == missing
    page = client_of(priya).get(reverse("storyboards")).content.decode()
    link = page.partition(f'href="{reverse("video", args=[job.pk])}">')[2]
    assert link.partition("<")[0].strip() == label
    assert titles(priya, show="film") == (["Harbour"] if state == JobState.COMPLETED else [])
    assert titles(priya, show="open") == ([] if state == JobState.COMPLETED else ["Harbour"])


def test_search_finds_titles_descriptions_and_prompts(
    priya: Membership, luca: Membership, token: Token
) -> None:
    create_storyboard(priya, token, "Whales pass the pier", title="Harbour")
    create_storyboard(luca, token, title="Night train", description="Lanterns on the platform")
    assert titles(priya) == ["Night train", "Harbour"]
    assert titles(priya, search="whales") == ["Harbour"]
    assert titles(priya, search="lanterns") == ["Night train"]
    assert titles(priya, whose="mine") == ["Harbour"]
    assert titles(priya, search="nothing") == []


def test_many_storyboards_are_read_page_by_page_and_in_few_queries(
    priya: Membership, token: Token
) -> None:
    now = timezone.now()
    for number in range(45):
        edited = now - timedelta(minutes=number)
        storyboard = create_storyboard(priya, token, "One", title=f"No {number}", edited_at=edited)
        if number < 5:
            place_with_clips(priya, storyboard, PartState.COMPLETED)
            Storyboard.objects.filter(pk=storyboard.pk).update(edited_at=edited)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        table = load_storyboards(priya, StoryboardFilters())
    assert len(queries) <= 8
    assert (len(table["rows"]), table["list"].total) == (40, 45)
    query = dict(pair.split("=") for pair in table["list"].next_url.partition("?")[2].split("&"))
    older = load_storyboards(priya, StoryboardFilters.parse(query))
    assert [row["storyboard"].title for row in older["rows"]] == [
        f"No {number}" for number in range(40, 45)
    ]
    assert StoryboardFilters.parse({"before": "x", "show": "y"}) == StoryboardFilters()


def test_a_duplicate_has_the_scenes_and_frames_but_no_clips(
    priya: Membership, luca: Membership, token: Token, client_of: Browser
) -> None:
    storyboard = create_storyboard(priya, token, "One")
    file = stored_files.store_file(
        storyboard, name="first.png", content_type="image/png", content=b"\x89PNG"
    )
    frame = {"file": str(file.pk), "name": "first.png"}
    gone = {"file": str(uuid4()), "name": "gone.png"}
    add_scene(storyboard, "Two", is_chained=True, first_frame=frame, last_frame=gone)
    place_with_clips(priya, storyboard, PartState.COMPLETED)
    answer = client_of(priya).post(reverse("storyboard-duplicates", args=[storyboard.pk]))
    copy = Storyboard.objects.exclude(pk=storyboard.pk).get()
    assert answer.url == reverse("storyboard", args=[copy.pk])
    assert (copy.title, copy.copy, copy.engine) == ("Harbour copy", None, "brook")
    one, two = copy.scenes.all()
    assert (one.prompt, two.prompt, two.is_chained, two.last_frame) == ("One", "Two", True, {})
    stored = copy.stored_files.get()
    assert two.first_frame == {"file": str(stored.pk), "name": "first.png"}
    client_of(priya).post(reverse("storyboard-duplicates", args=[storyboard.pk]))
    assert Storyboard.objects.filter(title="Harbour copy 2").exists()


def test_a_duplicate_without_a_token_is_refused_in_words(
    priya: Membership, luca: Membership, token: Token, client_of: Browser
) -> None:
    storyboard = create_storyboard(priya, token, "One")
    answer = client_of(luca).post(reverse("storyboard-duplicates", args=[storyboard.pk]))
    assert "no token yet" in str(next(iter(get_messages(answer.wsgi_request))))
    assert Storyboard.objects.count() == 1


def test_a_deletion_is_asked_for_undone_and_found_under_deleted(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    storyboard, browser = create_storyboard(priya, token, "One", "Two"), client_of(priya)
    place_with_clips(priya, storyboard, PartState.COMPLETED)
    url = reverse("storyboard-deletion", args=[storyboard.pk])
    question = browser.get(url, headers=HTMX).content.decode()
    assert "Delete “<bdi>Harbour</bdi>”?" in question
    assert "It has 2 scenes, 1 with a clip that was paid for." in question
    assert "Storyboards" in browser.get(url).content.decode()  # without scripts, on the list
    answer = browser.post(url)
    (message,) = get_messages(answer.wsgi_request)
    restore_url = reverse("storyboard-restorations", args=[storyboard.pk])
    assert (str(message), message.extra_tags) == ("“Harbour” is deleted.", restore_url)
    assert titles(priya) == [] and titles(priya, show="deleted") == ["Harbour"]
    page = browser.get(f"{reverse('storyboards')}?show=deleted").content.decode()
    assert restore_url in page and url not in page
    assert browser.get(reverse("storyboard", args=[storyboard.pk])).status_code == 404
    browser.post(restore_url)
    assert titles(priya) == ["Harbour"]


def test_a_storyboard_with_an_open_charge_is_not_deleted(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    storyboard = create_storyboard(priya, token, "One")
    job = place_with_clips(priya, storyboard)
    ChargeFactory.create(job=job, operation=RENDER, state=ChargeState.HELD)
    url = reverse("storyboard-deletion", args=[storyboard.pk])
    assert "It was not deleted." in client_of(priya).post(url, headers=HTMX).content.decode()
    storyboard.refresh_from_db()
    assert storyboard.hidden_at is None
