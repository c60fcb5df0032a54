"""Placeholder of the clips of a scene."""

from __future__ import annotations

from proxyapi.models import Storyboard, StoryboardScene


def load_clip_history(_storyboard: Storyboard, scene: StoryboardScene) -> object:
    return {"scene": scene.pk}
