"""`manage.py seed_demo`: create the demo team on an empty installation with the sandbox."""

from __future__ import annotations

import os
from concurrent.futures import Future
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from dashboard.demo import demo_team
from dashboard.demo.demo_team import DemoParts
from dashboard.demo.sandbox_admin import SandboxAdmin
from dashboard.models import Team
from proxyapi.rate_limiter import RateLimitExhausted
from proxyapi.refusals import Refusal
from proxyapi.upstream.errors import UpstreamError


class Command(BaseCommand):
    help = "Creates the demo team Northlight once. Works only with the sandbox."
    requires_system_checks: list[str] = []
    stealth_options = ("parts",)  # for `call_command`: made before the database was migrated

    def handle(self, *_: Any, parts: Future[DemoParts] | None = None, **__: Any) -> None:
        if not settings.VIDEO_API_IS_SANDBOX:
            raise CommandError(
                "The demo team needs the sandbox, but VIDEO_API_BASE_URL is another service."
            )
        sandbox = SandboxAdmin(settings.VIDEO_API_BASE_URL)
        if Team.objects.exists():
            demo_team.update_demo_addresses(portal_address(), sandbox.address)
            return
        try:
            made = parts.result() if parts else make_parts()
            demo_file = demo_team.store_demo(portal_address(), sandbox, made)
        except OSError as error:
            raise CommandError(
                f"The demo could not be made at the sandbox {sandbox.address}: {error}. Start "
                "again, or start with DEMO=empty."
            ) from None
        except (UpstreamError, RateLimitExhausted) as trouble:
            raise CommandError(
                f"The demo's past could not be read from the sandbox. {trouble.user_message} Start "
                "again, or start with DEMO=empty."
            ) from None
        except Refusal as refusal:
            raise CommandError(
                f"The sandbox's token was not accepted: {refusal.sentence}"
            ) from None
        self.stdout.write(f"Created the demo team. {demo_file} has the sign-ins.")


def make_parts() -> DemoParts:
    sandbox = SandboxAdmin(settings.VIDEO_API_BASE_URL)
    return demo_team.make_demo_parts(sandbox, with_past=settings.DEMO == "full")


def portal_address() -> str:
    return f"http://localhost:{os.environ.get('PORT') or 8000}"
