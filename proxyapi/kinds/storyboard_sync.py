"""Send a copy of a storyboard: create it, then what differs from what was sent, each step once.

All of it is free. Every step is stored as soon as it is answered, so a worker that dies, or a rate
limit that is used up, goes on where it was. Creating a copy again leaves an orphan (see
`draft_creation`). New scenes are never sent twice: after a lost answer they are read back and
matched by position and content. Order, frames and chains are sent again, which changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from proxyapi import stored_files
from proxyapi.credentials.encryption import EncryptionError
from proxyapi.kinds import draft_creation, storyboard_record
from proxyapi.kinds.storyboard_copy import SETTING_FIELDS, scenes_by_id
from proxyapi.kinds.storyboard_new_scenes import check_no_unknown_scenes, send_new_scenes
from proxyapi.kinds.storyboard_requests import (
    FRAMES,
    READ,
    CopyGone,
    CopySync,
    FrameMissing,
    Record,
    mark_unconfirmed,
    mark_unusable,
    name_scene,
    remote_id_of,
)
from proxyapi.models import Draft, Job, StoredFile, StoryboardMode
from proxyapi.models.storyboard import FRAME_FIELDS
from proxyapi.operations import get_operation
from proxyapi.rate_limiter import Priority
from proxyapi.upstream import errors, response_parsing

CREATE, SORT, CHAIN = "text_to_scene.create", "text_to_scene.sort", "text_to_scene.chain"
SYNC_LOCK_TTL_S = (
    150.0  # seconds; longer than one upload and its waits, renewed before each request
)
ORDER_KEY = "order"  # of what was sent, while the answer to an order is missing
OTHER_PICTURE = "png"


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
            send_chain(sync, number, entry, scene)


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


def send_order(sync: CopySync) -> None:
    """Put the scenes in the order of the film. The service unchains the first one."""
    sent = scenes_by_id(sync.sent)
    order = [one["scene"] for one in sync.wanted.get("scenes", ()) if one["scene"] in sent]
    if ORDER_KEY not in sync.sent and order == list(sent):
        return
    ids = [remote_id_of(sent[scene]) for scene in order]
    with mark_unconfirmed(sync, sync.sent, ORDER_KEY):
        sync.send_to_copy(SORT, json={"scenes": ids})
    sync.sent.pop(ORDER_KEY)
    sync.sent["scenes"] = [sent[scene] for scene in order]
    for first in sync.sent["scenes"][:1]:
        first["is_chained"] = False
    sync.save()


def send_frames(
    sync: CopySync, number: int, entry: dict[str, Any], scene: Mapping[str, Any]
) -> None:
    names = [name for name in FRAME_FIELDS if entry.get(name) != scene[name]]
    if not names:
        return
    body = build_frames_body(sync.job, number, {name: scene[name] for name in names})
    id = str(remote_id_of(entry))
    try:
        with mark_unconfirmed(sync, entry, *names):
            sync.send_to_copy(FRAMES, id, **body)
    except errors.UpstreamError as error:
        raise name_scene(error, number) from None
    store_changes(sync, entry, {name: scene[name] for name in names})


def send_chain(
    sync: CopySync, number: int, entry: dict[str, Any], scene: Mapping[str, Any]
) -> None:
    is_chained = scene["is_chained"]
    if entry.get("is_chained") == is_chained:
        return
    id = str(remote_id_of(entry))
    try:
        with mark_unconfirmed(sync, entry, "is_chained"):
            sync.send_to_copy(CHAIN, id, json={"chained": is_chained})
    except errors.UpstreamError as error:
        raise name_scene(error, number, "chain") from None
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
