"""Characters: made from a photo, previewed, trained.

A character is made upstream just before its first preview. That is free, so a lost answer only
delays it: it is made again, as often and as late as `draft_creation` allows, and the first one is
left behind. The photo is deleted as soon as the service has answered with an id.

The spec does not document where a training starts, nor a word for its failure.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction

from proxyapi import calls, stored_files
from proxyapi.credentials.encryption import EncryptionError
from proxyapi.kinds import draft_creation, job_parts
from proxyapi.kinds.declaration import KindSpec, UpstreamRecord, unwrap_single_object
from proxyapi.models import Draft, Job, JobState, StoredFile
from proxyapi.models.job_part import PREVIEWS
from proxyapi.operations import CHARACTER_CREATE_OPERATION, JobKind, get_operation
from proxyapi.rate_limiter import Priority
from proxyapi.upstream import errors, response_parsing

PHOTO_FIELD = "image"
TRAINING_FIELDS = ("preview_id", "name", "age", "gender")  # spec, Characters
CHANGEABLE_STATES = (JobState.DRAFT, JobState.FAILED)  # of a character that is not trained
# Seconds; longer than the upload and the waits for permits before and after it
CREATE_LOCK_TTL_S = 150.0


class PhotoMissing(errors.UnsendableRequest):
    """The photo waited too long, or its key is gone."""

    code = "PHOTO-MISSING"
    sentence = "The photo is no longer kept here. Choose it again. Nothing was sent or charged."


class CharacterKind(KindSpec):
    def resource_in(self, data: Any) -> UpstreamRecord:
        return unwrap_single_object(dict(response_parsing.as_mapping(data)))

    def store_parts(self, job: Job, data: Any, requested_at: datetime | None = None) -> None:
        """The spec does not say whether an answer lists all previews or the new ones alone, so
        those that it lacks stay."""
        job_parts.store_parts(
            job, self.resource_in(data), self.part_lists, requested_at, keeps_missing=True
        )


def missing_training_fields(chosen: dict[str, Any]) -> list[str]:
    return [name for name in TRAINING_FIELDS if not chosen.get(name)]


def create_from_photo(job: Job, priority: Priority, permit_timeout_s: float) -> UpstreamRecord:
    """Make the character upstream unless that was done, and return its record as it is now.

    Raises `errors.UpstreamError` or `RateLimitExhausted`.
    """
    with draft_creation.draft_lock(job, CREATE_LOCK_TTL_S):
        if job.remote_id is None:
            send_photo(job, priority, permit_timeout_s)
    reply = calls.call_upstream(
        job.token,
        CHARACTER.read_operation,
        priority,
        patience=permit_timeout_s,
        path={"id": str(job.remote_id)},
    )
    return CHARACTER.resource_in(reply.data)


def send_photo(job: Job, priority: Priority, permit_timeout_s: float) -> None:
    draft_creation.check_creation_delay(job.draft, CHARACTER_CREATE_OPERATION)
    photo = read_photo(job)
    try:
        reply = calls.call_upstream(
            job.token,
            CHARACTER_CREATE_OPERATION,
            priority,
            patience=permit_timeout_s,
            files=[photo],
        )
        remote_id = CHARACTER.created_id(CHARACTER.resource_in(reply.data))
        if not remote_id or job.is_remote_id_taken(remote_id):
            raise errors.ResponseLost(get_operation(CHARACTER_CREATE_OPERATION))
    except errors.UpstreamError as error:
        if error.outcome is errors.ErrorOutcome.UNKNOWN:
            draft_creation.schedule_creation_retry(job.draft)
        raise
    store_created_id(job, remote_id)


def read_photo(job: Job) -> tuple[str, tuple[str, bytes, str]]:
    """The form field with the photo. The name is ours: the member's may say more than they want to
    tell the service. Raises `PhotoMissing`."""
    file = StoredFile.objects.filter(job=job).order_by("-created_at").first()
    if file is None:
        raise PhotoMissing(get_operation(CHARACTER_CREATE_OPERATION))
    try:
        content = stored_files.read_stored_file(file)
    except EncryptionError:
        raise PhotoMissing(get_operation(CHARACTER_CREATE_OPERATION)) from None
    extension = file.content_type.rpartition("/")[2]
    return PHOTO_FIELD, (f"photo.{extension}", content, file.content_type)


@transaction.atomic
def store_created_id(job: Job, remote_id: str) -> None:
    """Keep the first id, because something may be paid on it, and delete the photo."""
    Job.objects.filter(pk=job.pk, remote_id__isnull=True).update(remote_id=remote_id)
    StoredFile.objects.filter(job=job).delete()
    Draft.objects.filter(pk=job.pk).update(unanswered_creates=0, create_retry_at=None)
    job.refresh_from_db(fields=["remote_id"])


CHARACTER = CharacterKind(
    JobKind.CHARACTER,
    "character",
    "",
    frozenset({"ready"}),
    media_url_key="",
    shows_start=False,
    prepare=create_from_photo,
    preconditions=missing_training_fields,
    part_lists=(PREVIEWS,),
    changes_options=True,
)
