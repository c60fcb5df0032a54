"""What is said when a field was not saved, because somebody else changed it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.urls import reverse

from dashboard.shared.formatting import clock
from dashboard.shared.storyboards.scene_edits import FieldConflict, SceneChange
from dashboard.storyboards.queries.panel import FIELD_WORDS
from proxyapi.models import Storyboard, StoryboardScene


@dataclass(frozen=True, slots=True)
class ConflictNotice:
    name: str
    sentence: str
    take_label: str
    take_url: str
    keep_url: str


def build_conflict_notices(
    storyboard: Storyboard, scene: StoryboardScene, conflicts: Iterable[FieldConflict]
) -> tuple[ConflictNotice, ...]:
    """Return a sentence such as `Priya changed this prompt at 14:30.` for each conflict."""
    page = f"{reverse('storyboard', args=[storyboard.pk])}?scene={scene.pk}"
    keep_url = reverse("storyboard-scene", args=[storyboard.pk, scene.pk])
    notices = []
    for conflict in conflicts:
        word, at = FIELD_WORDS[conflict.name], clock(conflict.at)
        by = f"{conflict.by_name} changed this {word} at {at}."
        own = f"This {word} was changed in another window at {at}."
        take = f"Take {conflict.by_name}'s" if conflict.by_name else "Take the other one"
        sentence = by if conflict.by_name else own
        notices.append(ConflictNotice(conflict.name, sentence, take, page, keep_url))
    return tuple(notices)


def moved_text(change: SceneChange) -> str:
    """Return a sentence such as `Scene 4 is now scene 3 of 8.`"""
    if change.number == change.old_number:
        place = "first" if change.number == 1 else "last"
        return f"Scene {change.number} is the {place} of {change.count}."
    return f"Scene {change.old_number} is now scene {change.number} of {change.count}."


def unchained_text(change: SceneChange) -> str:
    """Return a sentence for each scene that no longer continues from the one before it."""
    return " ".join(
        f"Scene {number} no longer continues from scene {number - 1}."
        for number in change.unchained
    )
