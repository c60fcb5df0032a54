"""A job: one upstream resource that is polled until it is finished.

`remote_id` is the upstream's id, known once the resource was created there; what a person chose for
it is in its draft (`models.draft`), if it has one. The result of polling is stored apart from the
state (rule 6): a failed poll sets `poll_error`, never `state`.
"""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Self

from django.apps import apps
from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from proxyapi import upstream_address
from proxyapi.models.account import Account
from proxyapi.models.api_key import ApiKey
from proxyapi.models.duration_class import DurationClass
from proxyapi.models.tenant import Tenant
from proxyapi.models.token import Token, TokenState
from proxyapi.operations import JobKind

if TYPE_CHECKING:
    from proxyapi.models.draft import Draft

MAX_JOB_CRASHES = 5  # times in a row that handling a row raised before it is quarantined
POLLING_STOPPED_HORIZON = timedelta(days=365)
VIDEO_KINDS = (JobKind.FACELESS, JobKind.CLIP, JobKind.STORYBOARD)


class JobState(models.TextChoices):
    DRAFT = "draft"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"


class JobOrigin(models.TextChoices):
    PORTAL = "portal"
    GATEWAY = "gateway"
    IMPORT = "import"  # made elsewhere, and added here by its upstream id


class JobQuerySet(models.QuerySet["Job"]):
    def visible(self) -> Self:
        return self.filter(hidden_at__isnull=True)

    def videos(self) -> Self:
        """Without cloned voices and characters, which have pages of their own, and without copies
        of a storyboard of which no film was requested. A script's storyboard is no copy."""
        is_unrendered_copy = Q(
            kind=JobKind.STORYBOARD, state=JobState.DRAFT, origin=JobOrigin.PORTAL
        )
        charges = apps.get_model("proxyapi", "Charge").objects  # imports this module
        renders = charges.starting_jobs().filter(job=OuterRef("pk"))
        return self.filter(~is_unrendered_copy | Exists(renders), kind__in=VIDEO_KINDS)

    def polling_stopped(self, now: datetime) -> Self:
        """Running jobs that are not polled until a person resumes polling, as
        `Job.is_polling_stopped`."""
        stopped = Q(failures__gte=MAX_JOB_CRASHES) | Q(
            next_poll_at__gt=now + POLLING_STOPPED_HORIZON
        )
        return self.filter(stopped, state=JobState.RUNNING)

    def stalled(self) -> Self:
        """As `Job.is_stalled`."""
        return self.filter(state=JobState.RUNNING, stalled_at__isnull=False)

    def due_part_reads(self, now: datetime) -> Self:
        """Jobs whose parts are to be read, on working tokens of the upstream in use."""
        return self.filter(
            upstream_address.current_upstream_filter("account__environment"),
            parts_due_at__lte=now,
            remote_id__isnull=False,
            token__state=TokenState.WORKING,
        )

    def due(self, now: datetime) -> Self:
        """Jobs whose next poll is due, on working tokens of the upstream in use, without
        quarantined ones."""
        return self.filter(
            upstream_address.current_upstream_filter("account__environment"),
            state=JobState.RUNNING,
            next_poll_at__lte=now,
            failures__lt=MAX_JOB_CRASHES,
            token__state=TokenState.WORKING,
        )


class Job(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    tenant = models.ForeignKey(Tenant, models.CASCADE, related_name="jobs")
    account = models.ForeignKey(Account, models.PROTECT, related_name="jobs")
    token = models.ForeignKey(Token, models.PROTECT, related_name="jobs")
    member = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="jobs")
    kind = models.CharField(max_length=10, choices=JobKind)
    origin = models.CharField(max_length=7, choices=JobOrigin, default=JobOrigin.PORTAL)
    api_key = models.ForeignKey(
        ApiKey,
        models.SET_NULL,
        related_name="jobs",
        null=True,
        blank=True,
        db_index=False,
        help_text="Of the script that made it.",
    )
    is_unattended = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Nobody waits for it: a batch makes it, so people's requests go first.",
    )
    remote_id = models.CharField(
        max_length=64, null=True, blank=True, help_text="Upstream id, once known."
    )
    state = models.CharField(max_length=9, choices=JobState, default=JobState.DRAFT)
    raw_status = models.CharField(
        max_length=60, blank=True, help_text="Upstream status, as last read."
    )
    status_since = models.DateTimeField(
        null=True, blank=True, help_text="When this word was first read in this run."
    )
    stalled_at = models.DateTimeField(
        null=True, blank=True, help_text="When a running job was found to be no longer moving."
    )
    title = models.CharField(max_length=200)
    media_url = models.TextField(blank=True)
    poster_url = models.TextField(
        blank=True, help_text="A picture of the video; empty if the service shows none."
    )
    media_as_of = models.DateTimeField(null=True, blank=True)
    failure_code = models.CharField(max_length=100, blank=True)
    failure_message = models.TextField(blank=True)
    subtype = models.CharField(
        max_length=60, blank=True, help_text="As in `RenderDurations`, for this render."
    )
    length = models.PositiveSmallIntegerField(
        default=0, help_text="As in `RenderDurations`, for this render."
    )
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    polled_at = models.DateTimeField(null=True, blank=True)
    next_poll_at = models.DateTimeField(null=True, blank=True)
    parts_due_at = models.DateTimeField(
        null=True, blank=True, help_text="When to read its parts, if no poll does."
    )
    poll_error = models.TextField(blank=True, help_text="Why the last poll failed; shown to users.")
    poll_failing_since = models.DateTimeField(null=True, blank=True)
    failures = models.PositiveSmallIntegerField(
        default=0, help_text="Consecutive exceptions; quarantined after five."
    )
    hidden_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, db_index=True)

    objects = JobQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["account", "kind", "remote_id"],
                condition=Q(remote_id__isnull=False),
                name="job_once_per_resource",
            ),
            models.CheckConstraint(condition=Q(state__in=JobState.values), name="job_state_known"),
            models.CheckConstraint(
                condition=Q(origin__in=JobOrigin.values), name="job_origin_known"
            ),
            models.CheckConstraint(
                condition=~Q(state="running") | Q(next_poll_at__isnull=False),
                name="job_running_has_next_poll",
            ),
            models.CheckConstraint(
                condition=Q(state="draft") | Q(remote_id__isnull=False),
                name="job_sent_has_remote_id",
            ),
        ]
        indexes = [
            # Includes the title: a search scans this index instead of the table.
            models.Index(fields=["tenant", "-created_at", "-id", "title"], name="job_titles"),
            models.Index(fields=["tenant", "state", "finished_at"], name="job_state_since"),
            models.Index(fields=["next_poll_at"], condition=Q(state="running"), name="job_due"),
            models.Index(
                fields=["parts_due_at"],
                condition=Q(parts_due_at__isnull=False),
                name="job_parts_due",
            ),
        ]

    def __str__(self) -> str:
        return self.title

    def start(
        self,
        now: datetime,
        first_poll_delay: timedelta,
        duration_class: DurationClass,
        status: str = "rendering",
    ) -> None:
        """The upstream started it: poll it from now on. The caller has locked the row."""
        self.state = JobState.RUNNING
        self.raw_status = status
        self.subtype, self.length = duration_class
        self.started_at, self.finished_at = now, None
        self.status_since, self.stalled_at = now, None
        self.failure_code = self.failure_message = self.media_url = self.poster_url = ""
        self.poll_error, self.poll_failing_since = "", None
        self.polled_at, self.next_poll_at, self.failures = now, now + first_poll_delay, 0
        self.save()

    def is_remote_id_taken(self, remote_id: str) -> bool:
        """Whether another job already has this upstream id, so that an answer with it is wrong."""
        accounts = Account.objects.same_upstream_account(self.account_id)
        same = Job.objects.filter(account__in=accounts, kind=self.kind, remote_id=remote_id)
        return same.exclude(pk=self.pk).exists()

    def has_changed_state(self) -> bool:
        """Whether its state is another one than was read; one query.

        A result starts the job before its charge ends. If both happen between the read of the job
        and that of its charges, it looks like a draft for which nothing was sent.
        """
        return not Job.objects.filter(pk=self.pk, state=self.state).exists()

    @property
    def is_imported(self) -> bool:
        return self.origin == JobOrigin.IMPORT

    @property
    def draft_or_none(self) -> Draft | None:
        draft: Draft | None = getattr(self, "draft", None)
        return draft

    @property
    def chosen_settings(self) -> dict[str, Any]:
        """The chosen settings by upstream field name; empty for a job without a draft."""
        draft = self.draft_or_none
        return draft.settings if draft else {}

    @property
    def last_run_at(self) -> datetime | None:
        """When its last run ended, or began if it has not: what identifies the run."""
        return self.finished_at or self.started_at

    @property
    def is_stalled(self) -> bool:
        """Whether it runs much longer than others did, or its status did not change for long; it is
        polled rarely, and may still end."""
        return self.state == JobState.RUNNING and self.stalled_at is not None

    @property
    def is_polling_stopped(self) -> bool:
        """Whether polling stopped until a person resumes it: the job is quarantined, or older than
        a month."""
        far = (
            self.next_poll_at is not None
            and self.next_poll_at > timezone.now() + POLLING_STOPPED_HORIZON
        )
        return self.state == JobState.RUNNING and (self.failures >= MAX_JOB_CRASHES or far)
