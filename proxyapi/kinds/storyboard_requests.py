"""One sending of a copy of a storyboard: its requests, and why the service does not take them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import redis
from redis.lock import Lock

from proxyapi import calls
from proxyapi.kinds import storyboard_record
from proxyapi.kinds.storyboard_copy import UNUSABLE_KEY, CopyContent
from proxyapi.models import Draft, Job
from proxyapi.models.draft import UNCONFIRMED_SETTING
from proxyapi.operations import get_operation
from proxyapi.rate_limiter import Priority, RateLimitExhausted
from proxyapi.upstream import errors
from proxyapi.upstream.reply import Reply

READ, SCENES = "text_to_scene.get", "text_to_scene.scenes"
FRAMES = "text_to_scene.frames"
Record = dict[str, Any]


class ScenesDelayed(RateLimitExhausted):
    """The answer to new scenes was lost; they are read back again in `wait` seconds."""

    @property
    def user_message(self) -> str:
        return (
            "The service did not respond when scenes were sent. Nothing was charged. Checked again "
            f"in {max(1, round(self.wait))} s."
        )


class UnknownScenes(errors.UnsendableRequest):
    """The service shows scenes that were not sent from here. It has no call to delete one."""

    code = "UNKNOWN-SCENES"
    sentence = (
        "The service shows other scenes than those that were sent. Nothing was charged. Confirm "
        "again: the film is sent anew then."
    )


class CopyGone(errors.UnsendableRequest):
    code = "COPY-GONE"
    sentence = (
        "The service no longer has this storyboard. Nothing was charged. Confirm again: the film "
        "is sent anew then."
    )


class SceneIdsUnknown(errors.UnsendableRequest):
    """The service does not show its scenes, so nothing can be asked of one of them."""

    code = "SCENE-IDS-UNKNOWN"
    sentence = (
        "The service's answers do not show the scenes of this storyboard, so their order, frames "
        "and clips cannot be requested. Nothing was charged."
    )


class FrameMissing(errors.UnsendableRequest):
    """The file of a frame is gone, or its key is."""

    code = "FRAME-MISSING"

    def __init__(self, number: int, name: str) -> None:
        super().__init__(get_operation(FRAMES), "the file of a frame is gone")
        self.sentence = (
            f"The {name.replace('_', ' ')} of scene {number} is no longer kept here. Add it again. "
            "Nothing was sent."
        )


class SceneRefused(errors.ValidationFailed):
    """The service does not accept a field of a scene; named by its number in the film."""

    def __init__(self, error: errors.ValidationFailed, number: int, field: str, said: str) -> None:
        details = errors.ErrorDetails(error.status, error.code, error.detail, error.fields)
        super().__init__(error.operation, details)
        words = said.rstrip(".")
        self.sentence = (
            f"The service does not accept the {field.replace('_', ' ')} of scene {number}: "
            f"“{words}.”"
        )


@dataclass(frozen=True, slots=True)
class CopySync:
    """One sending of a copy: its job, and how its requests are sent, with the draft's lock held."""

    job: Job
    priority: Priority
    permit_timeout_s: float
    lock: Lock

    @property
    def draft(self) -> Draft:
        return self.job.draft

    @property
    def wanted(self) -> CopyContent:
        content: CopyContent = self.draft.settings
        return content

    @property
    def sent(self) -> dict[str, Any]:
        content: dict[str, Any] = self.draft.sent_settings
        return content

    def save(self) -> None:
        self.draft.save(update_fields=["sent_settings"])

    def send(
        self, operation: str, *, before: Callable[[], None] | None = None, **parts: Any
    ) -> Reply:
        """Send one request; `before` runs when it has its permit."""
        with suppress(redis.RedisError):
            self.lock.reacquire()
        grant = calls.acquire_permit(
            self.job.token, self.priority, self.permit_timeout_s, operation
        )
        if before:
            before()
        return calls.send_request(self.job.token, operation, grant, **parts)

    def send_to_copy(self, operation: str, scene: str = "", **parts: Any) -> Reply:
        path = {"storyboard": str(self.job.remote_id), **({"scene": scene} if scene else {})}
        return self.send(operation, path=path, **parts)

    def read(self) -> Record:
        reply = self.send(READ, path={"id": str(self.job.remote_id)})
        return storyboard_record.storyboard_in(reply.data)


def mark_unusable(sync: CopySync) -> None:
    """The next placing makes a new copy (`storyboard_copy.can_take`)."""
    sync.sent[UNUSABLE_KEY] = True
    sync.save()


def remote_id_of(entry: Mapping[str, Any]) -> int | str:
    id: int | str | None = entry.get("remote_id")
    if id is None:
        raise SceneIdsUnknown(get_operation(SCENES))
    return id


def name_scene(error: errors.UpstreamError, number: int, field: str = "") -> errors.UpstreamError:
    """The error as it is, or of a value that the service does not accept one that names the
    scene; `field` as people call it."""
    if not isinstance(error, errors.ValidationFailed) or not error.field_messages:
        return error
    name, said = next(iter(error.field_messages.items()))
    return SceneRefused(error, number, field or name, said)


@contextmanager
def mark_unconfirmed(sync: CopySync, holder: dict[str, Any], *names: str) -> Iterator[None]:
    """Mark fields of what was sent until the answer: without one, the service's values are not
    known, and undoing the change must be sent too."""
    before = {name: holder[name] for name in names if name in holder}

    def restore() -> None:
        for name in names:
            holder.pop(name, None)
        holder.update(before)
        sync.save()

    holder.update(dict.fromkeys(names, UNCONFIRMED_SETTING))
    sync.save()
    try:
        yield
    except RateLimitExhausted:
        restore()
        raise
    except errors.UpstreamError as error:
        if error.outcome is not errors.ErrorOutcome.UNKNOWN:
            restore()
        raise
