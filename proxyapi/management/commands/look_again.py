"""Look again at jobs that were parked, or ran for a month: `manage.py look_again <job id> …`."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from proxyapi.models import Job
from proxyapi.polling.poller import poll_soon


class Command(BaseCommand):
    help = "Looks again at running jobs, whatever stopped or slowed the looking."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("job", nargs="+", type=UUID, help="As in the address of its page.")

    def handle(self, *args: Any, job: list[UUID], **options: Any) -> None:
        found = Job.objects.in_bulk(job)
        for id in job:
            if id not in found:
                raise CommandError(f"There is no job {id}.")
            taken_up = poll_soon(found[id])
            self.stdout.write(f"{id}: {'looked at in 5 s' if taken_up else 'does not run'}")
