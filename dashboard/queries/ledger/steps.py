"""How finely days are told: one by one, of long periods by week or by month."""

from __future__ import annotations

from datetime import date, timedelta
from enum import StrEnum
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import DateField, Func
from django.db.models.sql.compiler import SQLCompiler

DAILY, WEEKLY = 62, 400  # days of a period that are told as such


class Step(StrEnum):
    DAY = "day"
    WEEK = "week"
    MONTH = "month"

    def start(self, day: date) -> date:
        """The first day of the step that a day belongs to; a week's is its Monday."""
        if self is Step.WEEK:
            return day - timedelta(days=day.weekday())
        return day.replace(day=1) if self is Step.MONTH else day

    def said(self, start: date) -> str:
        if self is Step.MONTH:
            return f"{start:%B %Y}"
        return (
            f"Week of {start.day} {start:%b %Y}"
            if self is Step.WEEK
            else f"{start:%a} {start.day} {start:%b}"
        )

    def short(self, start: date) -> str:
        """As under a chart."""
        return f"{start:%b %Y}" if self is Step.MONTH else f"{start.day} {start:%b}"


def step_of(first: date, last: date) -> Step:
    days = (last - first).days + 1
    if days <= DAILY:
        return Step.DAY
    return Step.WEEK if days <= WEEKLY else Step.MONTH


class StartOf(Func):
    """As `Step.start`, in the database: years come out of it as a few months."""

    output_field = DateField()
    MODIFIERS = {
        Step.DAY: "",
        Step.WEEK: ", 'weekday 0', '-6 days'",
        Step.MONTH: ", 'start of month'",
    }

    def __init__(self, day: str, step: Step, **extra: Any) -> None:
        super().__init__(day, step=step.value, **extra)

    def as_sqlite(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: Any
    ) -> tuple[str, Any]:
        modifiers = self.MODIFIERS[Step(self.extra["step"])]
        template = f"DATE(%(expressions)s{modifiers})"
        return self.as_sql(compiler, connection, template=template, **context)

    def as_postgresql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: Any
    ) -> tuple[str, Any]:
        template = "DATE_TRUNC('%(step)s', %(expressions)s::timestamp)::date"
        return self.as_sql(compiler, connection, template=template, **context)
