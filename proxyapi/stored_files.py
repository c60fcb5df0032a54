"""Files of members that wait to be sent: encrypted while they wait, deleted after it.

Contract: the content is in no other place and no log. A file that nobody sent is deleted after
`RETENTION`; the one who sends it deletes it as soon as the service has it. A frame of a storyboard
is kept as long as a scene or a copy that is worked on uses it.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.utils import timezone

from proxyapi.credentials import encryption
from proxyapi.models import Draft, Job, StoredFile, Storyboard, StoryboardScene
from proxyapi.models.storyboard import FRAME_FIELDS
from proxyapi.pruning import delete_in_batches

RETENTION = timedelta(days=30)
FILES_DELETED_AT_ONCE = 20  # one may have 20 MB


def store_file(
    owner: Job | Storyboard,
    *,
    name: str,
    content_type: str,
    content: bytes,
    seconds: float | None = None,
) -> StoredFile:
    """Encrypt a file and keep it for the job, or for the storyboard. `seconds` is the length of a
    recording."""
    file = StoredFile(
        pk=uuid.uuid4(),
        job=owner if isinstance(owner, Job) else None,
        storyboard=owner if isinstance(owner, Storyboard) else None,
        name=name[:100],
        content_type=content_type,
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        seconds=seconds,
    )
    file.ciphertext = encryption.encrypt(
        content, file.encryption_context(), encryption.load_key_ring()
    )
    file.save(force_insert=True)
    return file


def read_stored_file(file: StoredFile) -> bytes:
    """Return the content. Raises `DecryptionFailed` if its key is gone or the row was changed."""
    return encryption.decrypt(
        bytes(file.ciphertext), file.encryption_context(), encryption.load_key_ring()
    )


def prune_stored_files() -> int:
    """Delete files that waited longer than `RETENTION`, without the frames in use; return how
    many."""
    old = StoredFile.objects.filter(created_at__lt=timezone.now() - RETENTION)
    storyboards = Storyboard.objects.filter(stored_files__in=old, hidden_at=None).distinct()
    used = {id for storyboard in storyboards for id in used_frame_files(storyboard)}
    return delete_in_batches(old.exclude(pk__in=used), size=FILES_DELETED_AT_ONCE)


def used_frame_files(storyboard: Storyboard) -> set[str]:
    """Return the ids of the files that its scenes use as frames, or its copies still do."""
    fields = StoryboardScene.objects.filter(storyboard=storyboard).values(*FRAME_FIELDS)
    drafts = Draft.objects.filter(job__storyboard_copy__storyboard=storyboard)
    copied = [scene for draft in drafts for scene in draft.settings.get("scenes", ())]
    return {id for scene in (*fields, *copied) for id in frame_file_ids(scene)}


def frame_file_ids(scene: Mapping[str, Any]) -> list[str]:
    frames = (scene.get(name) or {} for name in FRAME_FIELDS)
    return [frame["file"] for frame in frames if frame.get("file")]
