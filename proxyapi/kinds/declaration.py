"""What a kind of job declares, and the behaviour that most kinds share. Pure functions of
responses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from proxyapi.kinds import job_parts
from proxyapi.models import Charge, Job, JobState
from proxyapi.operations import ExecutionEvidence, JobKind, Operation, get_operation, status_read_of
from proxyapi.rate_limiter import Priority
from proxyapi.upstream import response_parsing
from proxyapi.upstream.status_words import says_failure, status_word

UpstreamRecord = dict[str, Any]

# Not in the spec, which names no poster.
POSTER_URL_KEYS = ("thumbnail_url", "poster_url", "thumbnail", "poster")
IN_PROGRESS_STATUSES = frozenset({"rendering", "syncing"})  # spec, States and transitions


@dataclass(frozen=True, slots=True)
class StatusReading:
    """The result of one read. `state` is None if the answer has no readable status."""

    state: JobState | None
    raw_status: str = ""
    media_url: str = ""
    failure_code: str = ""
    failure_message: str = ""
    poster_url: str = ""


@dataclass(frozen=True)
class KindSpec:
    """Where a kind has its status, and which statuses complete it. A word that says failure in
    plain English ends it as well, as the list of words is open; every other is "in progress"."""

    kind: JobKind
    event_name: str  # begins the types of its events, such as `video.completed`
    status_key: str  # the object in `data` that carries the status, or "" for `data` itself
    completed_statuses: frozenset[str]
    media_url_key: str = "url"  # "" if it has no file
    media_type: str = "video/mp4"  # used if the media host names no known type
    may_hide_media_url: bool = False  # it may be completed without a file in the answer
    # For drafts composed in the portal: send it upstream, request its price, missing render fields.
    prepare: Callable[[Job, Priority, float], UpstreamRecord] | None = None
    quote: Callable[[Job], None] | None = None
    preconditions: Callable[[UpstreamRecord], list[str]] = lambda settings: []
    shows_start: bool = True  # its status shows whether it was started
    part_lists: tuple[str, ...] = ()  # lists of its record that are stored as `JobPart`
    file_field: str = ""  # form field of the job's stored files, which its creation sends
    changes_options: bool = False  # a completed one is offered in the options of the account

    @cached_property
    def read_operation(self) -> str:
        """The read that a job of this kind is polled with."""
        return status_read_of(self.kind)

    def is_final_status(self, word: str) -> bool:
        return word in self.completed_statuses or says_failure(word)

    def is_started_status(self, word: str) -> bool:
        """Whether only a started job has this status."""
        return word in IN_PROGRESS_STATUSES or self.is_final_status(word)

    def read_status(self, data: Any) -> StatusReading:
        """Read a resource's answer. Never raises: an unreadable status is unknown (rule 6)."""
        holder = find_status_object(data, self.status_key)
        if not (raw := status_word(holder.get("status"))):
            return StatusReading(None)
        url = holder.get(self.media_url_key)
        media_url = url if isinstance(url, str) else ""
        if raw in self.completed_statuses:
            # Completed without its file is still running (pitfall 10).
            is_hidden = self.may_hide_media_url and self.media_url_key not in holder
            is_complete = media_url or not self.media_url_key or is_hidden
            state = JobState.COMPLETED if is_complete else JobState.RUNNING
            poster_url = job_parts.first_text(holder, POSTER_URL_KEYS) or self.picture_url_in(data)
            return StatusReading(state, raw, media_url, poster_url=poster_url)
        if says_failure(raw):
            return StatusReading(JobState.FAILED, raw, "", *parse_failure(holder.get("failure")))
        return StatusReading(JobState.RUNNING, raw)

    def picture_url_in(self, data: Any) -> str:
        """The address of a picture that stands for the whole, in an answer without a poster."""
        return ""

    def resource_in(self, data: Any) -> UpstreamRecord:
        """The resource in an answer."""
        return dict(response_parsing.as_mapping(data))

    def store_parts(self, job: Job, data: Any, requested_at: datetime | None = None) -> None:
        """Store the lists in an answer as parts of the job; see `job_parts.store_parts`."""
        if self.part_lists:
            job_parts.store_parts(job, self.resource_in(data), self.part_lists, requested_at)

    def check_before_send(self, charge: Charge, record: UpstreamRecord) -> None:
        """Raise `errors.UnsendableRequest` if the evidence read just before shows that the charge
        must not be sent."""

    def request_body(self, charge: Charge) -> UpstreamRecord:
        """The body to send. Raises `errors.UnsendableRequest` if it cannot be sent any more."""
        body: UpstreamRecord = charge.body
        return body

    def has_result(self, operation: Operation, record: UpstreamRecord) -> bool:
        """Whether an answer shows what the operation made; one that does not is read back."""
        return True

    def store_result(self, job: Job, charge: Charge, record: UpstreamRecord) -> bool:
        """Store what a charge made besides its job and its parts, once for each charge; return
        whether the record shows it. The caller has locked the job."""
        return True

    def select_evidence(self, charge: Charge, record: UpstreamRecord) -> UpstreamRecord:
        """The part of the record that the charge changes."""
        return record

    def store_completion(self, job: Job, data: Any) -> None:
        """What follows from the answer that shows the resource completed, besides the job's state.
        Runs before that is stored, and perhaps twice."""

    def created_id(self, record: UpstreamRecord) -> str:
        """The id of the created resource; empty if the record has none."""
        ids = (holder.get("id") for holder in self.holders(record))
        return next((str(id) for id in ids if response_parsing.is_resource_id(id)), "")

    def reported_status(self, operation: Operation, record: UpstreamRecord) -> str:
        """The status at the kind's own place; another status in the record is not its own (pitfall
        5)."""
        holders = self.holders(record)
        statuses = (
            holder.get("status")
            for holder in (holders if operation.is_charged_create else holders[:1])
        )
        return next((status for status in statuses if isinstance(status, str) and status), "")

    def holders(self, record: UpstreamRecord) -> list[UpstreamRecord]:
        """Where the created resource may be, as the spec does not document the body: at the place
        that the reads use, in the record itself, or in the only object that it contains."""
        return [find_status_object(record, self.status_key), record, unwrap_single_object(record)]

    def evidence_read(self, charge: Charge) -> tuple[str, dict[str, Any]] | None:
        """The free read that shows whether a charge was carried out, with its parameters; None
        without one, such as for a clip whose id is only in the lost answer."""
        job = charge.job
        if job is None or job.remote_id is None or get_operation(charge.operation).creates:
            return None
        return self.read_operation, {"path": {"id": job.remote_id}}

    def snapshot(self, operation: Operation, record: UpstreamRecord) -> UpstreamRecord:
        """The part of the evidence before the send to store."""
        reading = self.read_status(record)
        failure = {"code": reading.failure_code, "message": reading.failure_message}
        return {
            "status": self.reported_status(operation, record),
            # Stored because a retry clears it upstream.
            "failure": failure if reading.state == JobState.FAILED else None,
            "part": part_ids(operation, record),
        }

    def proves(self, operation: Operation, before: UpstreamRecord, record: UpstreamRecord) -> bool:
        """Whether the evidence, read again, proves that the operation was carried out."""
        if operation.part_list or operation.evidence is ExecutionEvidence.LEDGER:
            part = part_ids(operation, record)
            return part is not None and part != before.get("part")
        return self.has_status_changed(operation, before, record)

    def has_status_changed(
        self, operation: Operation, before: UpstreamRecord, record: UpstreamRecord
    ) -> bool:
        status = self.reported_status(operation, record)
        if not before.get("status"):  # the status before the send is unknown
            return self.is_started_status(status)
        return bool(status) and status != before["status"]

    def is_debit_enough(self, operation: Operation, before: UpstreamRecord) -> bool:
        """Whether a debit alone proves it, because the resource may have the same status before and
        after."""
        is_by_ledger = operation.evidence is ExecutionEvidence.LEDGER or bool(operation.part_list)
        return is_by_ledger or self.is_final_status(before.get("status") or "")


def part_ids(operation: Operation, record: UpstreamRecord) -> list[str] | None:
    """The ids in the list that the operation adds to, and whether each has a clip."""
    rows = record.get(operation.part_list)
    if not isinstance(rows, list):
        return None
    return [f"{row.get('id')} {bool(row.get('clip'))}" for row in rows if isinstance(row, dict)]


def find_status_object(data: Any, name: str) -> dict[str, Any]:
    """The object with the status, in `data` itself or one level below."""
    if not isinstance(data, dict):
        return {}
    if not name:
        return data if "status" in data else unwrap_single_object(data)
    inner = data.get(name)
    if isinstance(inner, dict):
        return inner
    nested = [value[name] for value in data.values() if isinstance(value, dict) and name in value]
    return nested[0] if nested and isinstance(nested[0], dict) else {}


def unwrap_single_object(data: dict[str, Any]) -> dict[str, Any]:
    """The only object in `data`, under any name, unless `data` is a record itself."""
    nested = [value for value in data.values() if isinstance(value, dict)]
    is_record = "id" in data or "status" in data
    return nested[0] if len(nested) == 1 and not is_record else data


def parse_failure(value: Any) -> tuple[str, str]:
    """Code and message: an object for faceless videos, a bare reason for clips (pitfall 11)."""
    if isinstance(value, dict):
        return str(value.get("code") or "")[:100], str(value.get("message") or "")[:2000]
    return "", str(value or "")[:2000]
