"""The most used presets of a team, as the studio's start page shows them."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError
from django.utils import timezone

from dashboard.models import DraftOrigin, Membership
from dashboard.studio.presets.queries import load_most_used_presets
from proxyapi.models import JobState
from tests.factories import JobFactory, PresetFactory, TeamFactory

pytestmark = pytest.mark.postgresql

VOICE = {"slug": "amelia-hart", "name": "Amelia Hart", "language": "English"}
WIDE = {"slug": "16:9", "name": "Landscape"}


def test_the_four_most_used_come_first(priya: Membership, django_assert_num_queries: Any) -> None:
    """Of those that were used as often, one without a time comes last."""
    for name, used in (("A", 1), ("B", 31), ("C", 2), ("D", 9), ("E", 1)):
        PresetFactory.create(
            team=priya.team,
            created_by=priya.user,
            name=name,
            used_count=used,
            last_used_at=None if name == "A" else timezone.now(),
        )
    with django_assert_num_queries(2):
        cards, total = load_most_used_presets(priya.team)
    assert [card.name for card in cards] == ["B", "D", "C", "E"]
    assert total == 5


def test_a_team_without_presets_has_none_and_sees_no_others(priya: Membership) -> None:
    PresetFactory.create(created_by=priya.user)
    assert load_most_used_presets(priya.team) == ((), 0)


def test_a_card_names_what_is_kept_and_what_is_missing(priya: Membership) -> None:
    PresetFactory.create(
        team=priya.team,
        created_by=priya.user,
        options={"voice_id": VOICE, "aspect_ratio": WIDE},
        missing={"genre_id": None},
    )
    ((card,), _) = load_most_used_presets(priya.team)
    assert card.line == "AI visuals, 16:9, Amelia Hart"
    assert card.drift_notice == "1 setting missing"


def test_the_picture_is_of_the_newest_finished_video_made_with_it(priya: Membership) -> None:
    done = {"tenant": priya.team.tenant, "state": JobState.COMPLETED, "remote_id": "1"}
    saved_from, made = (
        JobFactory.create(**done, media_url="https://x.example/a.mp4", finished_at=timezone.now())
        for _ in range(2)
    )
    preset = PresetFactory.create(team=priya.team, created_by=priya.user, picture_of=saved_from)
    assert str(saved_from.pk) in load_most_used_presets(priya.team)[0][0].still_url
    DraftOrigin.objects.create(job=made, preset=preset)
    assert str(made.pk) in load_most_used_presets(priya.team)[0][0].still_url


def test_a_name_is_used_once_in_a_team_whatever_its_case(priya: Membership) -> None:
    PresetFactory.create(team=priya.team, created_by=priya.user, name="Sea series")
    PresetFactory.create(team=TeamFactory(), created_by=priya.user, name="Sea series")
    with pytest.raises(IntegrityError):
        PresetFactory.create(team=priya.team, created_by=priya.user, name="sea Series")
