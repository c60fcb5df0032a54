"""The newest clips by state, model and member: in the URL, without scripts, with a way back."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from dashboard.clips.queries import ClipFilters
from dashboard.clips.queries.recent import load_clip_chips, load_recent_clips
from dashboard.models import Membership
from proxyapi.models import ChargeState, Job, JobState, Token
from proxyapi.operations import REFUNDABLE_OPERATIONS
from tests.dashboard.clips.conftest import HTMX, SETTINGS, Browser, make_clip_draft
from tests.dashboard.clips.test_composer import PAGE, text_of
from tests.factories import ChargeFactory

pytestmark = pytest.mark.postgresql

MakeClip = Callable[..., Job]
FORM = {**HTMX, "HX-Trigger": "clip-filters", "HX-Target": "library"}


@pytest.fixture
def make_clip(token: Token) -> MakeClip:
    """A clip that was sent; `charge` are fields of its charge."""

    def make(title: str, job_state: JobState, model: str = "brook", **charge: Any) -> Job:
        job = make_clip_draft(token, {**SETTINGS, "model": model})
        number = None if job_state == JobState.DRAFT else str(job.pk)[:8]
        polled = timezone.now() if job_state == JobState.RUNNING else None
        Job.objects.filter(pk=job.pk).update(
            state=job_state, title=title, remote_id=number, next_poll_at=polled
        )
        fields = {"state": ChargeState.CONFIRMED, "cost": Decimal(33), "sent_at": timezone.now()}
        ChargeFactory.create(job=job, operation=REFUNDABLE_OPERATIONS[0], **{**fields, **charge})
        return job

    return make


@pytest.fixture
def clips(make_clip: MakeClip) -> None:
    """One clip in each state, and one of another model."""
    make_clip("Running", JobState.RUNNING)
    make_clip("Ready", JobState.COMPLETED)
    make_clip("Other model", JobState.COMPLETED, "kestrel-voice")
    make_clip("Broken", JobState.FAILED)
    make_clip("Lost", JobState.DRAFT, state=ChargeState.MATCHED, unidentified_at=timezone.now())
    make_clip("Refused", JobState.DRAFT, state=ChargeState.REFUSED, cost=None)
    make_clip("Asked for", JobState.DRAFT, state=ChargeState.DRAFT, cost=None, sent_at=None)
    make_clip("Unanswered", JobState.DRAFT, state=ChargeState.UNKNOWN, cost=None)


def titles(reader: Membership, **query: str) -> set[str]:
    recent = load_recent_clips(reader, ClipFilters.parse(query))
    assert recent.total == len(recent.cards)
    return {card.title for card, _ in recent.cards}


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ("making", {"Running", "Asked for"}),
        ("completed", {"Ready", "Other model"}),
        ("failed", {"Broken", "Lost"}),
        ("unknown", {"Unanswered"}),
        ("unsent", {"Refused"}),
    ],
)
def test_each_state_has_its_clips(
    state: str, expected: set[str], priya: Membership, clips: None
) -> None:
    assert titles(priya, state=state) == expected


def test_models_and_members_narrow_together(
    priya: Membership, luca: Membership, clips: None, make_clip: MakeClip
) -> None:
    job = make_clip("By Luca", JobState.COMPLETED, "kestrel-voice")
    Job.objects.filter(pk=job.pk).update(member=luca.user)
    assert titles(priya, model="kestrel-voice") == {"Other model", "By Luca"}
    assert titles(priya, model="kestrel-voice", member=str(luca.user_id)) == {"By Luca"}
    assert titles(priya, model="kestrel-voice", member=str(luca.user_id), state="failed") == set()


def test_the_models_are_those_that_were_used_by_name(
    priya: Membership, clips: None, make_clip: MakeClip
) -> None:
    make_clip("Old", JobState.COMPLETED, "left-the-plan")
    state, model, member = load_clip_chips(priya, ClipFilters.parse({"member": "7" * 9}))
    assert [(one.value, one.label) for one in model.options] == [
        ("", "any"),
        ("brook", "Brook"),
        ("kestrel-voice", "Kestrel Voice"),
        ("left-the-plan", "left-the-plan"),
    ]
    assert (state.current_label, member.current_label) == ("any", "everyone")


def test_a_chosen_filter_is_in_the_url_and_the_draft_stays(
    priya: Membership, clips: None, priced: Job, client_of: Browser
) -> None:
    query = f"draft={priced.pk}&part=recent&state=failed&model=&member="
    response = client_of(priya).get(f"{PAGE}?{query}", headers=FORM)
    assert response["HX-Push-Url"] == f"{PAGE}?draft={priced.pk}&state=failed"
    html = text_of(response)
    assert "<html" not in html
    assert "Broken" in html
    assert "Ready" not in html
    assert 'id="clip-chips"' in html
    page = text_of(client_of(priya).get(response["HX-Push-Url"]))
    assert f'name="draft" value="{priced.pk}"' in page
    assert "Broken" in page


def test_a_list_that_refreshes_keeps_its_filters_and_no_open_menu_is_drawn_anew(
    priya: Membership, clips: None, client_of: Browser
) -> None:
    html = text_of(client_of(priya).get(f"{PAGE}?part=recent&state=failed", headers=FORM))
    assert f"{PAGE}?state=failed&amp;part=cards" in html
    response = client_of(priya).get(f"{PAGE}?state=failed&part=cards", headers=HTMX)
    assert "HX-Push-Url" not in response
    assert "Broken" in text_of(response)
    assert 'id="clip-chips"' not in text_of(response)


def test_without_scripts_the_page_shows_the_clips_and_a_button(
    priya: Membership, clips: None, client_of: Browser
) -> None:
    html = text_of(client_of(priya).get(PAGE))
    assert f'<noscript><a class="link" href="{PAGE}?part=recent#recent-title">' in html
    assert '<span class="frame" data-tint="' in html, "a dark ground is a black tile"
    html = text_of(client_of(priya).get(f"{PAGE}?part=recent&state=&model=kestrel-voice&member="))
    assert "<html" in html
    assert "Other model" in html
    assert "Broken" not in html
    assert 'id="composer"' in html


def test_nothing_that_matches_has_a_way_back(
    priya: Membership, clips: None, client_of: Browser
) -> None:
    html = text_of(client_of(priya).get(f"{PAGE}?model=gone&state=failed"))
    assert "No clips match" in html
    assert f'class="chip chip--on" href="{PAGE}"' in html
    html = text_of(client_of(priya).get(PAGE, headers={**HTMX, "HX-Target": "library"}))
    assert "<html" not in html
    assert "Broken" in html


def test_twelve_are_shown_then_more_and_the_library_has_all(
    priya: Membership, make_clip: MakeClip, client_of: Browser
) -> None:
    for number in range(14):
        make_clip(f"Clip {number}", JobState.COMPLETED)
    recent = load_recent_clips(priya, ClipFilters.parse({"state": "completed"}))
    assert (len(recent.cards), recent.total, recent.has_more) == (12, 14, True)
    html = text_of(client_of(priya).get(f"{PAGE}?state=completed"))
    assert "All 14 in the library" in html
    assert "/library/?type=clip&amp;state=completed" in html
    assert f"{PAGE}?state=completed&amp;shown=24" in html
    of_model = load_recent_clips(priya, ClipFilters.parse({"model": "brook", "shown": "24"}))
    assert (len(of_model.cards), of_model.has_more, of_model.all_text) == (14, False, "")


def test_the_clips_of_another_team_are_in_no_filter(otto: Membership, clips: None) -> None:
    assert titles(otto) == set()
    assert [len(chip.options) for chip in load_clip_chips(otto, ClipFilters.parse({}))] == [
        6,
        1,
        2,
    ]


@pytest.mark.parametrize(
    "query", ["state=gone", "member=x", "shown=-3", "shown=9999999999", "draft=x", "model=%00"]
)
def test_a_filter_that_is_none_is_ignored(
    query: str, priya: Membership, clips: None, client_of: Browser
) -> None:
    html = text_of(client_of(priya).get(f"{PAGE}?part=recent&{query}", headers=HTMX))
    assert html.count("data-card") == 8


def test_the_clips_take_few_queries(
    priya: Membership, clips: None, client_of: Browser, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(7):
        filters = ClipFilters.parse({"state": "completed", "model": "brook"})
        load_recent_clips(priya, filters)
        load_clip_chips(priya, filters)
