"""Clips and storyboards on the studio's first page: what they cost this team."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from django.urls import reverse
from django.utils import timezone

from dashboard.models import Membership
from dashboard.storyboards.actions import place_in_copy
from proxyapi.models import ChargeState, JobKind, JobState
from tests.factories import ChargeFactory, JobFactory
from tests.storyboards import create_storyboard, create_storyboard_token

Browser = Callable[[Membership], Any]
CLIP, CLIPS, RENDER = "text_to_video.create", "text_to_scene.clips", "text_to_scene.render"


def test_without_any_the_cards_say_so(priya: Membership, client_of: Browser) -> None:
    page = client_of(priya).get(reverse("studio")).content.decode()
    assert "Clip from a prompt" in page and "Storyboard" in page
    assert page.count("First of its kind here. You see the price before anything is charged.") == 2


def test_what_clips_and_films_cost_in_all_is_shown(priya: Membership, client_of: Browser) -> None:
    token = create_storyboard_token(priya)
    settled = {"state": ChargeState.CONFIRMED, "settled_at": timezone.now()}
    settled["sent_at"] = timezone.now()
    for cost in (10, 33, 40):
        clip = JobFactory.create(account=token.account, token=token, kind=JobKind.CLIP)
        ChargeFactory.create(job=clip, operation=CLIP, cost=Decimal(cost), **settled)
    for title, state in (("Rendered", JobState.COMPLETED), ("In work", JobState.DRAFT)):
        storyboard = create_storyboard(priya, token, "One", title=title)
        job = place_in_copy(by=priya, storyboard=storyboard)
        ChargeFactory.create(job=job, operation=CLIPS, cost=Decimal(42), **settled)
        ChargeFactory.create(job=job, operation=RENDER, cost=Decimal(24), **settled)
        finished_at = timezone.now() if state == JobState.COMPLETED else None
        type(job).objects.filter(pk=job.pk).update(
            state=state, finished_at=finished_at, remote_id=title
        )
    page = client_of(priya).get(reverse("studio")).content.decode()
    assert "your last 3: 10 to 40" in page and "≈ 33" in page
    assert "your last one" in page and "≈ 66" in page
