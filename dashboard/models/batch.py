"""Batches: many videos from the rows of one file, checked and priced before the first is sent."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from dashboard.models.label import Label
from dashboard.models.membership import Team
from dashboard.models.planned_render import wall_clock_text
from dashboard.models.preset import Preset
from dashboard.models.series import Series
from proxyapi.models import ApiKey, Idea, Job
from proxyapi.models.account import CREDIT_FIELD_OPTIONS

MAX_BATCH_NAME_CHARS = 80
MAX_AT_ONCE = 4


class BatchState(models.TextChoices):
    DRAFT = "draft", "Not started"
    SCHEDULED = "scheduled", "Scheduled"
    RUNNING = "running", "Running"
    PAUSED = "paused", "Paused"
    FINISHED = "finished", "Finished"


class BatchRowState(models.TextChoices):
    NEW = "new", "Not started"
    LEFT_OUT = "left_out", "Left out"
    WAITING = "waiting", "Waiting"
    BEGUN = "begun", "In progress"
    DONE = "done", "Done"
    FAILED = "failed", "Failed"
    CANCELLED = "cancelled", "Cancelled"


class RowChoice(models.TextChoices):
    """Whether a person decided that a row is made; otherwise a duplicate is left out."""

    AUTOMATIC = "", "Automatic"
    MAKE = "make", "Make it"
    LEAVE_OUT = "leave", "Leave it out"


class BatchQuerySet(models.QuerySet["Batch"]):
    def in_progress(self) -> Self:
        """Batches that a worker has to look at: what has begun goes on while one is paused."""
        begun_before = Q(state=BatchState.PAUSED, rows__state=BatchRowState.BEGUN)
        return self.filter(Q(state=BatchState.RUNNING) | begun_before).distinct()

    def due_to_start(self) -> Self:
        return self.filter(state=BatchState.SCHEDULED, starts_at__lte=timezone.now())

    def waiting_for_approval(self) -> Self:
        return self.filter(state=BatchState.DRAFT, approval_requested_at__isnull=False)


class Batch(models.Model):
    """A batch. `columns` has a field name for each column of the file, or "" for one that is not
    used; `headers` has their names. Whoever changes a batch that has started, or one of its rows,
    has locked the batch; it is locked before everything else."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    team = models.ForeignKey(Team, models.CASCADE, related_name="batches")
    member = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        related_name="+",
        help_text="Who made it, and whose token and budgets it uses.",
    )
    key = models.ForeignKey(
        ApiKey,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="The API key or agent that let it run last; its charges are the key’s.",
    )
    name = models.CharField(max_length=MAX_BATCH_NAME_CHARS)
    file_name = models.CharField(max_length=200, blank=True)
    headers = models.JSONField(default=list)
    columns = models.JSONField(default=list)
    preset = models.ForeignKey(
        Preset, models.SET_NULL, null=True, blank=True, related_name="batches"
    )
    preset_name = models.CharField(
        max_length=60, blank=True, help_text="Kept to notice that the preset was deleted."
    )
    series = models.ForeignKey(
        Series, models.SET_NULL, null=True, blank=True, related_name="batches"
    )
    label = models.ForeignKey(Label, models.SET_NULL, null=True, blank=True, related_name="+")
    state = models.CharField(max_length=9, choices=BatchState, default=BatchState.DRAFT)
    pause_reason = models.TextField(blank=True, help_text="Why it paused by itself.")
    at_once = models.PositiveSmallIntegerField(default=2)
    max_credits = models.DecimalField(
        **CREDIT_FIELD_OPTIONS, null=True, blank=True, help_text="Never spends and holds more."
    )
    max_failures = models.PositiveSmallIntegerField(default=5)
    script_price = models.DecimalField(
        **CREDIT_FIELD_OPTIONS, null=True, blank=True, help_text="As it was confirmed."
    )
    approval_requested_at = models.DateTimeField(
        null=True, blank=True, help_text="When a second person was asked to start it."
    )
    approved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    epoch = models.PositiveIntegerField(
        default=0, help_text="Number of the `DatabaseEpoch` in which it was started or resumed."
    )
    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True, blank=True)
    state_since = models.DateTimeField(default=timezone.now)
    starts_at = models.DateTimeField(
        null=True, blank=True, help_text="When it starts by itself, once it is confirmed."
    )
    gives_up_at = models.DateTimeField(
        null=True, blank=True, help_text="Until when it waits for free credits from then on."
    )

    objects = BatchQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at", "pk")
        constraints = [
            models.CheckConstraint(condition=~Q(name=""), name="batch_has_a_name"),
            models.CheckConstraint(
                condition=Q(at_once__gte=1, at_once__lte=MAX_AT_ONCE), name="batch_at_once_legal"
            ),
            models.CheckConstraint(
                condition=Q(state=BatchState.DRAFT, started_at=None)
                | ~Q(state=BatchState.DRAFT)
                & Q(started_at__isnull=False, max_credits__gte=0, script_price__gte=0),
                name="batch_started_with_a_limit",
            ),
            models.CheckConstraint(
                condition=~Q(state=BatchState.SCHEDULED) | Q(starts_at__isnull=False),
                name="batch_scheduled_with_a_time",
            ),
        ]
        indexes = [
            models.Index(
                fields=["state"],
                condition=Q(state__in=[BatchState.RUNNING, BatchState.PAUSED]),
                name="batch_in_progress",
            ),
            models.Index(
                fields=["starts_at"],
                condition=Q(state=BatchState.SCHEDULED),
                name="batch_scheduled",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_draft(self) -> bool:
        return self.state == BatchState.DRAFT

    @property
    def is_scheduled(self) -> bool:
        return self.state == BatchState.SCHEDULED

    @property
    def start_text(self) -> str:
        """Return when it starts by itself, once it is confirmed and approved."""
        if self.starts_at is None:
            return ""
        if self.gives_up_at is not None:
            return "Starts when the credits are free"
        return f"Starts on {wall_clock_text(self.starts_at, self.team.tenant.zone)}"

    @property
    def lost_preset(self) -> bool:
        """True if its preset was deleted."""
        return bool(self.preset_name) and self.preset_id is None

    @property
    def glyph(self) -> str:
        """Return the state of a pill."""
        return {"finished": "completed", "scheduled": "waiting"}.get(self.state, self.state)


class BatchRow(models.Model):
    """A line of the file. `cells` are its texts, one for each column, as repaired on the page."""

    batch = models.ForeignKey(Batch, models.CASCADE, related_name="rows")
    number = models.PositiveSmallIntegerField(help_text="The first line below the headers is 1.")
    cells = models.JSONField(default=list)
    choice = models.CharField(
        max_length=5, choices=RowChoice, default=RowChoice.AUTOMATIC, blank=True
    )
    state = models.CharField(max_length=9, choices=BatchRowState, default=BatchRowState.NEW)
    job = models.OneToOneField(Job, models.PROTECT, null=True, blank=True, related_name="batch_row")
    idea = models.ForeignKey(Idea, models.SET_NULL, null=True, blank=True, related_name="+")
    earlier_jobs = models.ManyToManyField(
        Job, related_name="earlier_batch_rows", blank=True, help_text="Of attempts that failed."
    )
    limit = models.DecimalField(
        **CREDIT_FIELD_OPTIONS, null=True, blank=True, help_text="Credits it may cost at most."
    )
    usual = models.DecimalField(
        **CREDIT_FIELD_OPTIONS, null=True, blank=True, help_text="Credits that it usually costs."
    )
    usual_s = models.PositiveIntegerField(
        null=True, blank=True, help_text="Seconds that it usually takes."
    )
    reason = models.TextField(blank=True, help_text="Why it failed.")

    class Meta:
        ordering = ("number",)
        constraints = [
            models.UniqueConstraint(fields=["batch", "number"], name="batch_row_number_once"),
            models.CheckConstraint(
                condition=~Q(state__in=[BatchRowState.BEGUN, BatchRowState.DONE])
                | Q(job__isnull=False, limit__isnull=False),
                name="batch_row_begun_with_a_job",
            ),
            models.CheckConstraint(
                condition=~Q(state=BatchRowState.WAITING) | Q(job=None, limit__isnull=False),
                name="batch_row_waits_without_a_job",
            ),
        ]

    def __str__(self) -> str:
        return f"row {self.number} of {self.batch_id}"

    def cell(self, column: int) -> str:
        return str(self.cells[column]) if column < len(self.cells) else ""

    def set_cells(self, texts: Mapping[int, str]) -> None:
        """Replace the texts of these columns."""
        width = len(self.batch.headers)
        cells = [*self.cells, *[""] * (width - len(self.cells))]
        for column, text in texts.items():
            cells[column] = text
        self.cells = cells[:width] if texts else self.cells

    def values(self, columns: Sequence[str]) -> dict[str, str]:
        """Return the texts of the used columns by field name; empty cells are left out."""
        texts = {name: self.cell(at).strip() for at, name in enumerate(columns) if name}
        return {name: text for name, text in texts.items() if text}

    @property
    def title(self) -> str:
        """Return the title of its video, or what its cells have."""
        if self.job is not None:
            return self.job.title
        values = self.values(self.batch.columns)
        return values.get("title") or (
            values.get("topic") or values.get("link") or values.get("script", "")[:80]
        )
