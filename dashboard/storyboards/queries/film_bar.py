"""Placeholder of the film bar."""

from __future__ import annotations

from collections.abc import Sequence

from dashboard.models import Membership
from dashboard.shared.storyboards.scene_states import SceneRow
from proxyapi.models import Storyboard


def build_film_bar(
    _storyboard: Storyboard, rows: Sequence[SceneRow], _reader: Membership
) -> object:
    return {"seconds": sum(row.scene.duration for row in rows)}
