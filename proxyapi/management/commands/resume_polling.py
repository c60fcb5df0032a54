"""Poll quarantined or month-old jobs again: `manage.py resume_polling <job id> …`."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from proxyapi.models import Job
from proxyapi.polling.poller import poll_soon


class Command(BaseCommand):
    help = "Polls running jobs again after their polling was stopped or slowed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("job", nargs="+", type=UUID, help="job id, as in the URL of its page")

    def handle(self, *args: Any, job: list[UUID], **options: Any) -> None:
        jobs = Job.objects.in_bulk(job)
        for id in job:
            if id not in jobs:
                raise CommandError(f"There is no job {id}.")
            is_polled = poll_soon(jobs[id])
            self.stdout.write(
                f"{id}: {'will be polled within 5 s' if is_polled else 'is not running'}"
            )
