"""How finely days are told: one by one, of long periods by week or by month."""

from __future__ import annotations

from datetime import date, timedelta
from enum import StrEnum
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import DateField, Func
from django.db.models.sql.compiler import SQLCompiler

MAX_DAYS_BY_DAY, MAX_DAYS_BY_WEEK = 62, 400  # days of a period that are told as such


class Granularity(StrEnum):
    DAY = "day"
    WEEK = "week"
    MONTH = "month"

    def first_day(self, day: date) -> date:
        """The first day of the step that a day belongs to; a week's is its Monday."""
        if self is Granularity.WEEK:
            return day - timedelta(days=day.weekday())
        return day.replace(day=1) if self is Granularity.MONTH else day

    def label(self, start: date) -> str:
        if self is Granularity.MONTH:
            return f"{start:%B %Y}"
        return (
            f"Week of {start.day} {start:%b %Y}"
            if self is Granularity.WEEK
            else f"{start:%a} {start.day} {start:%b}"
        )

    def short_label(self, start: date) -> str:
        """As under a chart."""
        return f"{start:%b %Y}" if self is Granularity.MONTH else f"{start.day} {start:%b}"


def choose_granularity(first: date, last: date) -> Granularity:
    days = (last - first).days + 1
    if days <= MAX_DAYS_BY_DAY:
        return Granularity.DAY
    return Granularity.WEEK if days <= MAX_DAYS_BY_WEEK else Granularity.MONTH


class TruncToGranularity(Func):
    """As `Granularity.first_day`, in the database: years come out of it as a few months."""

    output_field = DateField()
    MODIFIERS = {
        Granularity.DAY: "",
        Granularity.WEEK: ", 'weekday 0', '-6 days'",
        Granularity.MONTH: ", 'start of month'",
    }

    def __init__(self, day: str, step: Granularity, **extra: Any) -> None:
        super().__init__(day, step=step.value, **extra)

    def as_sqlite(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: Any
    ) -> tuple[str, Any]:
        modifiers = self.MODIFIERS[Granularity(self.extra["step"])]
        template = f"DATE(%(expressions)s{modifiers})"
        return self.as_sql(compiler, connection, template=template, **context)

    def as_postgresql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: Any
    ) -> tuple[str, Any]:
        template = "DATE_TRUNC('%(step)s', %(expressions)s::timestamp)::date"
        return self.as_sql(compiler, connection, template=template, **context)
