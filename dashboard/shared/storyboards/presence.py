"""Who is in which scene of a storyboard: kept in Redis for a short while, renewed by open pages.

After a Redis flush, or without Redis, nobody is shown until the pages mark themselves again.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from uuid import UUID

import redis

from dashboard.models import User
from proxyapi.redis_client import connect_redis

PRESENCE_TTL_S = 40  # a page in use renews its mark every 15 s (static/js/storyboard/presence.js)


@dataclass(frozen=True, slots=True)
class ScenePresence:
    """A member in a scene, by the scene's id."""

    user_id: int
    name: str
    initials: str
    scene_id: str


def mark_presence(storyboard_id: UUID, user: User, scene_id: UUID | None) -> bool:
    """Mark that a user is in a scene, or (None) in none any more. Return whether that is new to the
    others."""
    key, now = presence_key(storyboard_id), time.time()
    try:
        client = connect_redis()
        before = parse_mark(client.hget(key, str(user.pk)), now)  # type: ignore[arg-type]
        if scene_id is None:
            client.hdel(key, str(user.pk))
            return before is not None
        mark = {
            "scene": str(scene_id),
            "name": user.first_name,
            "initials": user.initials,
            "until": now + PRESENCE_TTL_S,
        }
        client.hset(key, str(user.pk), json.dumps(mark))
        client.expire(key, PRESENCE_TTL_S)
    except redis.RedisError:
        return False
    return before is None or before["scene"] != mark["scene"]


def load_presence(storyboard_id: UUID, reader: User) -> tuple[ScenePresence, ...]:
    """Return the others who are in a scene now, by name."""
    try:
        marks: dict[bytes, bytes] = connect_redis().hgetall(presence_key(storyboard_id))  # type: ignore[assignment]
    except redis.RedisError:
        return ()
    now = time.time()
    present = [
        ScenePresence(int(id), mark["name"], mark["initials"], mark["scene"])
        for id, text in marks.items()
        if int(id) != reader.pk and (mark := parse_mark(text, now)) is not None
    ]
    return tuple(sorted(present, key=lambda one: (one.name, one.user_id)))


def parse_mark(text: bytes | None, now: float) -> dict[str, str] | None:
    """Return a mark that is not over yet."""
    if text is None:
        return None
    mark = json.loads(text)
    return mark if mark["until"] > now else None


def presence_key(storyboard_id: UUID) -> str:
    return f"storyboards:presence:{storyboard_id}"
