"""Import of a job that exists at the service under a token: made by a script, or in another tool.

The job has no draft and no charge here. One free read shows that the service has it under this
token; from then on it is polled like any other. What it cost is only known if a debit of the ledger
names it (`ledger/imported_debits.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.utils import timezone

from proxyapi import calls, ledger
from proxyapi.events import EventType, publish_event
from proxyapi.kinds import KINDS, StatusReading
from proxyapi.kinds.job_parts import first_text
from proxyapi.models import Account, Job, JobKind, JobOrigin, JobState, Token
from proxyapi.polling import FIRST_POLL_DELAY
from proxyapi.polling.poller import apply_answer
from proxyapi.rate_limiter import Priority, RateLimitExhausted
from proxyapi.refusals import NotReady
from proxyapi.upstream import errors

PERMIT_TIMEOUT_S = 2.0  # seconds that a person waits for a permit
MAX_TITLE_CHARS = 200
TITLE_KEYS = ("title", "name", "prompt")  # only the first one is in the spec, of faceless videos
NUMBER_RE = re.compile(r"[0-9]{1,20}")
UUID_RE = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
KIND_NOUNS = {
    JobKind.FACELESS: "faceless video",
    JobKind.CLIP: "clip",
    JobKind.STORYBOARD: "storyboard",
}
DRAFT_STATUS = "draft"  # of a video and a storyboard before the first render (spec, open)
NO_ID = (
    "Enter the ID as the service shows it: a whole number such as 41234, or 32 hexadecimal digits "
    "with hyphens."
)
NOT_FOUND = (
    "The service has no {noun} {id} under this token. It may belong to another account, be of "
    "another kind, or the number may be a video_id, which is no ID of the API."
)
NOT_RENDERED = (
    "The service has {noun} {id}, but it was not rendered yet: its status is “{status}”. Import it "
    "when its render was started."
)
NO_STATUS = (
    "The service answered, but its answer shows no status of {noun} {id}, so it is not known what "
    "it is. A draft that was never rendered may have none."
)
OF_OTHER_TEAM = (
    "Another team of this portal that uses the same account has {noun} {id} in its library."
)
NOT_IMPORTED = "{sentence} Nothing was imported."


class ImportNotFound(NotReady):
    """The service has no such resource under this token."""


class ImportMustWait(NotReady):
    """No request is left for `wait_s` seconds."""

    def __init__(self, exhausted: RateLimitExhausted) -> None:
        super().__init__(NOT_IMPORTED.format(sentence=exhausted.user_message))
        self.wait_s = exhausted.wait


def import_job(
    token: Token,
    kind: JobKind,
    upstream_id: str,
    author_id: int,
    record_import: Callable[[Job], object] = lambda job: None,
    priority: Priority = Priority.PERSON,
) -> tuple[Job, bool]:
    """Return the job with this id of the token's account, and whether this call imported it; the
    same id twice, also at once, gives one job.

    `author_id` is the member whose job it becomes. `record_import` is called in the transaction
    that creates it. Raises `NotReady` with the sentence for people, and field `upstream_id` if
    another id has to be entered; then nothing is stored.
    """
    upstream_id = parse_upstream_id(upstream_id)
    if job := find_job(token, kind, upstream_id):
        return job, False
    requested_at = timezone.now()
    data = fetch_record(token, kind, upstream_id, priority)
    reading = KINDS[kind].read_status(data)
    check_is_started(kind, upstream_id, reading)
    values = {
        "tenant_id": token.tenant_id,
        "token": token,
        "member_id": author_id,
        "origin": JobOrigin.IMPORT,
        "title": record_title(kind, upstream_id, data),
        # A final status is stored as that of a poll, below.
        "state": JobState.RUNNING,
        "raw_status": reading.raw_status,
        "next_poll_at": requested_at + FIRST_POLL_DELAY,
    }
    with transaction.atomic():
        job, is_new = Job.objects.get_or_create(
            values, account=token.account, kind=kind, remote_id=upstream_id
        )
        if is_new:
            record_import(job)
            publish_event(job.tenant_id, EventType.JOB, job.pk)
    if is_new:
        apply_answer(job, data, requested_at)
        ledger.match_entries(token.account)
        job.refresh_from_db()
    return job, is_new


def parse_upstream_id(text: str) -> str:
    """The id as the service writes it. Raises `NotReady`; the spec shows numbers and UUIDs alone,
    and what is neither is not put into a path."""
    text = text.strip()
    if NUMBER_RE.fullmatch(text):
        return str(int(text))
    if UUID_RE.fullmatch(text):
        return text.lower()
    raise NotReady(NO_ID, field="upstream_id")


def find_job(token: Token, kind: JobKind, upstream_id: str) -> Job | None:
    """The job that has this id already. Raises `NotReady` if it is another team's."""
    accounts = Account.objects.same_upstream_account(token.account_id)
    # One query: between two, an import at the same moment would look like another team's.
    jobs = list(Job.objects.filter(account__in=accounts, kind=kind, remote_id=upstream_id))
    job = next((job for job in jobs if job.account_id == token.account_id), None)
    if jobs and job is None:
        sentence = OF_OTHER_TEAM.format(noun=KIND_NOUNS[kind], id=upstream_id)
        raise NotReady(sentence, field="upstream_id")
    return job


def fetch_record(token: Token, kind: JobKind, upstream_id: str, priority: Priority) -> Any:
    """Read the resource once, free of charge. Raises `NotReady`."""
    try:
        reply = calls.call_upstream(
            token,
            KINDS[kind].read_operation,
            priority,
            patience=PERMIT_TIMEOUT_S if priority is Priority.PERSON else 0,
            path={"id": upstream_id},
        )
    except errors.NotFound:
        sentence = NOT_FOUND.format(noun=KIND_NOUNS[kind], id=upstream_id)
        raise ImportNotFound(sentence, field="upstream_id") from None
    except RateLimitExhausted as exhausted:
        raise ImportMustWait(exhausted) from None
    except errors.UpstreamError as error:
        raise NotReady(NOT_IMPORTED.format(sentence=error.user_message)) from None
    return reply.data


def check_is_started(kind: JobKind, upstream_id: str, reading: StatusReading) -> None:
    """Raise `NotReady` for a draft, which no poll would ever find finished (pitfall 9), and for an
    answer without a readable status. A clip has the status draft once it was accepted."""
    words = {"noun": KIND_NOUNS[kind], "id": upstream_id, "status": reading.raw_status}
    if reading.state is None:
        raise NotReady(NO_STATUS.format(**words), field="upstream_id")
    if kind != JobKind.CLIP and reading.raw_status.lower() == DRAFT_STATUS:
        raise NotReady(NOT_RENDERED.format(**words), field="upstream_id")


def record_title(kind: JobKind, upstream_id: str, data: Any) -> str:
    """The title in the record, or what it is with its id."""
    record = KINDS[kind].resource_in(data)
    holders = (record, *(value for value in record.values() if isinstance(value, dict)))
    titles = (" ".join(first_text(holder, TITLE_KEYS).split()) for holder in holders)
    title = next(filter(None, titles), f"{KIND_NOUNS[kind].capitalize()} {upstream_id}")
    return title[:MAX_TITLE_CHARS]
