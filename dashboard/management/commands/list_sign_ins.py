"""`manage.py list_sign_ins`: list recent sign-ins and refused attempts with their IP addresses."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from dashboard.models import SignInEvent
from dashboard.models.email_address import address_key

MAX_EVENTS_SHOWN = 200


class Command(BaseCommand):
    help = f"Lists the last {MAX_EVENTS_SHOWN} sign-ins, refused sign-ins and password changes."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("address", nargs="?", help="only events of this e-mail address")

    def handle(self, *_: Any, address: str | None, **__: Any) -> None:
        events = SignInEvent.objects.order_by("-happened_at", "-pk")
        if address:
            events = events.filter(address=address_key(address))
        for event in reversed(events[:MAX_EVENTS_SHOWN]):
            moment = event.happened_at.isoformat(" ", "seconds")
            outcome = event.get_outcome_display()
            self.stdout.write(
                f"{moment}  {event.client_ip}  {event.address}  {outcome}  {event.user_agent}"
            )
