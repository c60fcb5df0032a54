"""Send a copy of a storyboard: create it, then what differs from what was sent, each step once.

All of it is free. Every step is stored as soon as it is answered, so a worker that dies, or a rate
limit that is used up, goes on where it was. Creating a copy again leaves an orphan (see
`draft_creation`). New scenes are never sent twice: after a lost answer they are read back and
matched by position and content. Order, frames and chains are sent again, which changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NoReturn

import redis
from django.conf import settings
from django.db import transaction
from django.utils import timezone
from redis.lock import Lock

from proxyapi import calls, stored_files
from proxyapi.credentials.encryption import EncryptionError
from proxyapi.kinds import draft_creation, storyboard_record
from proxyapi.kinds.storyboard_copy import (
    NO_VALUES,
    SETTING_FIELDS,
    UNUSABLE_KEY,
    CopyContent,
    scenes_by_id,
)
from proxyapi.models import Draft, Job, StoredFile, StoryboardMode
from proxyapi.models.draft import UNCONFIRMED_SETTING
from proxyapi.models.storyboard import FRAME_FIELDS
from proxyapi.operations import get_operation
from proxyapi.rate_limiter import Priority, RateLimitExhausted
from proxyapi.upstream import errors, response_parsing
from proxyapi.upstream.reply import Reply

CREATE, READ = "text_to_scene.create", "text_to_scene.get"
SCENES, SORT = "text_to_scene.scenes", "text_to_scene.sort"
FRAMES, CHAIN = "text_to_scene.frames", "text_to_scene.chain"
SYNC_LOCK_TTL_S = (
    150.0  # seconds; longer than one upload and its waits, renewed before each request
)
# After a lost answer, in multiples of `CHARGE_RETRY_INTERVAL_S`: 90 s. Until then the request may
# still be carried out, and its scenes would be there twice.
SCENES_RETRY_FACTOR = 9
ORDER_KEY = "order"  # of what was sent, while the answer to an order is missing
OTHER_PICTURE = "png"
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
            f"“{words}.” Nothing was charged."
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


def sync_copy(job: Job, priority: Priority, permit_timeout_s: float) -> Record:
    """Send the copy's unsent content, and return the service's record of it as it is now.

    Raises `errors.UpstreamError` or `RateLimitExhausted`; what was sent until then is stored.
    """
    with draft_creation.draft_lock(job, SYNC_LOCK_TTL_S) as lock:
        sync = CopySync(job, priority, permit_timeout_s, lock)
        if "scenes" not in sync.wanted:
            return sync.read()  # it was not composed here
        is_new = job.remote_id is None
        if is_new:
            create_copy(sync)
        try:
            send_differences(sync, is_new=is_new)
            record = sync.read()
        except errors.NotFound:
            mark_unusable(sync)
            raise CopyGone(get_operation(READ)) from None
        if sync.sent.get("mode") == StoryboardMode.MANUAL:
            check_no_unknown_scenes(sync, record)
        return record


def send_differences(sync: CopySync, *, is_new: bool) -> None:
    if sync.sent.get("mode") == StoryboardMode.MANUAL:
        send_new_scenes(sync, is_new=is_new)
    send_order(sync)
    for number, scene in enumerate(sync.wanted["scenes"], start=1):
        if entry := scenes_by_id(sync.sent).get(scene["scene"]):
            entry["unused"] = scene.get("unused", [])
            send_frames(sync, number, entry, scene)
            send_chain(sync, entry, scene)


def create_copy(sync: CopySync) -> None:
    draft, job = sync.draft, sync.job
    draft_creation.check_creation_delay(draft, CREATE)
    chosen = {name: sync.wanted.get(name) for name in SETTING_FIELDS}
    body = {
        "mode": sync.wanted["mode"],
        "title": sync.wanted["title"],
        "settings": {name: value for name, value in chosen.items() if value not in (None, "")},
    }
    try:
        reply = sync.send(CREATE, json=body)
        id = storyboard_record.storyboard_in(reply.data).get("id")
        if not response_parsing.is_resource_id(id) or job.is_remote_id_taken(str(id)):
            raise errors.ResponseLost(get_operation(CREATE))
    except errors.UpstreamError as error:
        if error.outcome is errors.ErrorOutcome.UNKNOWN:
            draft_creation.schedule_creation_retry(draft)
        raise
    first = {**body, **chosen, "scenes": []}
    first.pop("settings")
    # The lock may have been lost with Redis. The first copy is kept, because it may be paid for.
    uncreated = Job.objects.filter(pk=job.pk, remote_id__isnull=True)
    with transaction.atomic():
        if uncreated.update(remote_id=str(id)):
            Draft.objects.filter(pk=draft.pk).update(sent_settings=first)
    job.refresh_from_db(fields=["remote_id"])
    draft.refresh_from_db(fields=["sent_settings"])


def send_new_scenes(sync: CopySync, *, is_new: bool) -> None:
    """Add the scenes that were not sent, in one request. Those whose answer was lost, and those
    that a restored database has forgotten, are recognized first."""
    if not (awaited_scenes(sync.sent) or unsent_scenes(sync)):
        return
    if not is_new:
        recognize_scenes(sync, sync.read())
        drop_lost_scenes(sync)
    new = unsent_scenes(sync)
    if not new:
        return
    body = [{"raw_video_prompt": scene["prompt"], "duration": scene["duration"]} for scene in new]
    try:
        reply = sync.send_to_copy(
            SCENES, before=lambda: mark_requested(sync, new), json={"scenes": body}
        )
    except errors.UpstreamError as error:
        if error.outcome is not errors.ErrorOutcome.UNKNOWN:
            forget_requested(sync)
        raise explain_refusal(sync, error, new) from None
    answered = storyboard_record.storyboard_in(reply.data)
    shown = storyboard_record.scene_records(answered)
    recognize_scenes(sync, answered if shown else sync.read(), is_answered=True)


def awaited_scenes(sent: CopyContent) -> list[dict[str, Any]]:
    """The scenes whose request has no answer."""
    return [scene for scene in sent.get("scenes", ()) if scene.get("requested_at")]


def unsent_scenes(sync: CopySync) -> list[dict[str, Any]]:
    known, unready = scenes_by_id(sync.sent), sync.wanted.get("unready", {})
    scenes = sync.wanted.get("scenes", ())
    return [one for one in scenes if one["scene"] not in known and one["scene"] not in unready]


def sent_scene(scene: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    """A scene as it is right after it was added: without frames and chain."""
    return {**scene, **NO_VALUES, "remote_id": None, **fields}


def mark_requested(sync: CopySync, new: list[dict[str, Any]]) -> None:
    now = timezone.now().isoformat()
    sync.sent["scenes"] = [
        *sync.sent.get("scenes", ()),
        *(sent_scene(scene, requested_at=now) for scene in new),
    ]
    sync.save()


def forget_requested(sync: CopySync) -> None:
    scenes = sync.sent.get("scenes", ())
    sync.sent["scenes"] = [scene for scene in scenes if not scene.get("requested_at")]
    sync.save()


def recognize_scenes(sync: CopySync, record: Record, *, is_answered: bool = False) -> None:
    """Match the scenes of the record that have no scene here with those that were requested, and
    then with those that were not sent, in their order.

    `is_answered`: the request was carried out, so its scenes are there even if the record does not
    show them. Raises `UnknownScenes`, or `SceneIdsUnknown` if a lost answer cannot be read back.
    """
    shown, awaited = storyboard_record.scene_records(record), awaited_scenes(sync.sent)
    if shown is None:
        if awaited and not is_answered:
            raise SceneIdsUnknown(get_operation(SCENES))
        for entry in awaited:
            entry.pop("requested_at")
        sync.save()
        return
    known = known_ids(sync)
    candidates = [*awaited, *unsent_scenes(sync)]
    new_rows = [row for row in shown if str(row["id"]) not in known]
    if len(new_rows) > len(candidates):
        refuse_unknown_scenes(sync)
    for entry, row in zip(candidates, new_rows, strict=False):
        if not is_same_scene(entry, row):
            refuse_unknown_scenes(sync)
        if "requested_at" in entry:
            entry.pop("requested_at")
            entry["remote_id"] = row["id"]
        else:
            scenes = sync.sent.get("scenes", ())
            sync.sent["scenes"] = [*scenes, sent_scene(entry, remote_id=row["id"])]
    sync.save()


def known_ids(sync: CopySync) -> set[str]:
    ids = (scene.get("remote_id") for scene in sync.sent.get("scenes", ()))
    return {str(id) for id in ids if id is not None}


def is_same_scene(entry: Mapping[str, Any], row: Mapping[str, Any]) -> bool:
    """Whether the record shows this scene; a field that it does not show is no difference."""
    shown = (storyboard_record.scene_prompt(row), storyboard_record.scene_duration(row))
    wanted = (" ".join(entry["prompt"].split()), entry["duration"])
    pairs = zip((" ".join(shown[0].split()), shown[1]), wanted, strict=True)
    return all(value in ("", None, other) for value, other in pairs)


def refuse_unknown_scenes(sync: CopySync) -> NoReturn:
    mark_unusable(sync)
    raise UnknownScenes(get_operation(SCENES))


def mark_unusable(sync: CopySync) -> None:
    """The next placing makes a new copy (`storyboard_copy.can_take`)."""
    sync.sent[UNUSABLE_KEY] = True
    sync.save()


def check_no_unknown_scenes(sync: CopySync, record: Record) -> None:
    shown, known = storyboard_record.scene_records(record) or (), known_ids(sync)
    if any(scene.get("remote_id") is None for scene in sync.sent.get("scenes", ())):
        return  # their ids are not known
    if any(str(row["id"]) not in known for row in shown):
        refuse_unknown_scenes(sync)


def drop_lost_scenes(sync: CopySync) -> None:
    """Scenes whose request did not arrive are sent again when it can no longer be carried out."""
    awaited = awaited_scenes(sync.sent)
    if not awaited:
        return
    requested_at = max(datetime.fromisoformat(scene["requested_at"]) for scene in awaited)
    wait = SCENES_RETRY_FACTOR * timedelta(seconds=settings.CHARGE_RETRY_INTERVAL_S)
    age = timezone.now() - requested_at
    if timedelta(0) <= age < wait:
        raise ScenesDelayed((wait - age).total_seconds())
    forget_requested(sync)


def explain_refusal(
    sync: CopySync, error: errors.UpstreamError, new: list[dict[str, Any]]
) -> errors.UpstreamError:
    """The error, with the number of the scene whose field the service does not accept."""
    if not isinstance(error, errors.ValidationFailed):
        return error
    name, said = next(iter(error.field_messages.items()), ("", ""))
    words = name.split(".")
    if len(words) != 3 or not words[1].isdecimal() or int(words[1]) >= len(new):
        return error
    numbers = {one["scene"]: place for place, one in enumerate(sync.wanted["scenes"], start=1)}
    field = "prompt" if "prompt" in words[2] else words[2]
    return SceneRefused(error, numbers[new[int(words[1])]["scene"]], field, said)


@contextmanager
def unconfirmed(sync: CopySync, holder: dict[str, Any], *names: str) -> Iterator[None]:
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


def send_order(sync: CopySync) -> None:
    """Put the scenes in the order of the film. The service unchains the first one."""
    sent = scenes_by_id(sync.sent)
    order = [one["scene"] for one in sync.wanted.get("scenes", ()) if one["scene"] in sent]
    if ORDER_KEY not in sync.sent and order == list(sent):
        return
    ids = [remote_id_of(sent[scene]) for scene in order]
    with unconfirmed(sync, sync.sent, ORDER_KEY):
        sync.send_to_copy(SORT, json={"scenes": ids})
    sync.sent.pop(ORDER_KEY)
    sync.sent["scenes"] = [sent[scene] for scene in order]
    for first in sync.sent["scenes"][:1]:
        first["is_chained"] = False
    sync.save()


def remote_id_of(entry: Mapping[str, Any]) -> int | str:
    id: int | str | None = entry.get("remote_id")
    if id is None:
        raise SceneIdsUnknown(get_operation(SCENES))
    return id


def send_frames(
    sync: CopySync, number: int, entry: dict[str, Any], scene: Mapping[str, Any]
) -> None:
    names = [name for name in FRAME_FIELDS if entry.get(name) != scene[name]]
    if not names:
        return
    body = build_frames_body(sync.job, number, {name: scene[name] for name in names})
    with unconfirmed(sync, entry, *names):
        sync.send_to_copy(FRAMES, str(remote_id_of(entry)), **body)
    store_changes(sync, entry, {name: scene[name] for name in names})


def send_chain(sync: CopySync, entry: dict[str, Any], scene: Mapping[str, Any]) -> None:
    is_chained = scene["is_chained"]
    if entry.get("is_chained") == is_chained:
        return
    with unconfirmed(sync, entry, "is_chained"):
        sync.send_to_copy(CHAIN, str(remote_id_of(entry)), json={"chained": is_chained})
    store_changes(sync, entry, {"is_chained": is_chained})


def store_changes(sync: CopySync, entry: dict[str, Any], changes: Mapping[str, Any]) -> None:
    """Store what the service has now; a clip that the scene has was made before it."""
    outdated = sorted({*entry.get("outdated", ()), *changes})
    entry.update(changes, outdated=outdated)
    sync.save()


def build_frames_body(
    job: Job, number: int, frames: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Addresses as JSON; with a file a form, in which an empty text takes a frame away."""
    uploads = {
        name: frame
        for name, frame in frames.items()
        if frame.get("file") and not frame.get("address")
    }
    texts = {
        name: frame.get("address") or None for name, frame in frames.items() if name not in uploads
    }
    if not uploads:
        return {"json": texts}
    files = [
        (name, read_frame(job, number, name, frame["file"])) for name, frame in uploads.items()
    ]
    return {"data": {name: text or "" for name, text in texts.items()}, "files": files}


def read_frame(job: Job, number: int, name: str, file_id: str) -> tuple[str, bytes, str]:
    """A file as it is uploaded. Its name is ours: the member's may say more than they want to tell
    the service. Raises `FrameMissing`."""
    file = StoredFile.objects.filter(storyboard__copies=job.pk, pk=file_id).first()
    if file is None:
        raise FrameMissing(number, name)
    try:
        content = stored_files.read_stored_file(file)
    except EncryptionError:
        raise FrameMissing(number, name) from None
    extension = file.content_type.rpartition("/")[2] or OTHER_PICTURE
    return f"{name}.{extension}", content, file.content_type
