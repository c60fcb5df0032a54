"""Edits of scenes as values: the change of a field and what was saved of it, a new order."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any

from proxyapi.models import StoryboardScene

Snapshot = dict[str, Any]


def field_version(value: object) -> str:
    """Identify a value, so that a form can say which one it was built from."""
    return sha256(repr(value).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class SceneFieldChange:
    """`seen` is the version that the form was built from; empty to overwrite any."""

    name: str
    value: Any
    seen: str


@dataclass(frozen=True, slots=True)
class FieldConflict:
    """Somebody changed the same field since the form was built. `by_name`: None if it was the
    reader, in another window."""

    name: str
    by_name: str | None
    at: datetime


@dataclass(frozen=True, slots=True)
class SavedFields:
    saved: tuple[str, ...]
    conflicts: tuple[FieldConflict, ...]


@dataclass(frozen=True, slots=True)
class SceneChange:
    """What a change of the order did. `number` is the scene's place now, 0 if it is deleted;
    `unchained` the numbers, before it, of scenes that no longer continue from the scene before
    them. `snapshot` undoes it (`restore_scenes`)."""

    scene: StoryboardScene
    number: int
    old_number: int
    count: int
    unchained: tuple[int, ...] = ()
    snapshot: Snapshot = field(default_factory=dict)
