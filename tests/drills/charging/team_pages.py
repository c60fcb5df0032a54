"""What a team sees of its tokens' bad days: every page, the file, each notice, mail and webhook."""

from __future__ import annotations

import asyncio
import html
import re
from typing import Any

from django.conf import settings
from django.test import AsyncClient, Client
from django.urls import reverse

from dashboard.alerts import default_rules
from dashboard.alerts.delivery import webhook
from dashboard.alerts.delivery.queue import attempt_delivery
from dashboard.alerts.evaluate import evaluate_team
from dashboard.models import AlertEvent, AlertKind, AlertRule, Membership, Role, Team
from proxyapi.models import Tenant
from tests.factories import MembershipFactory, TeamFactory
from tests.leaks import Canaries

MOST = 20  # pages of a team
NOT_PAGES = re.compile(r"^/(static|live|accounts)|/media/|/theme/|export")
LINKS = re.compile(r'(?:href|hx-get|src|action)="(/[^"#]*)')


def scan_team_pages(canaries: Canaries, tenant: Tenant) -> int:
    """All of it, as its owner gets it; how many pages that were."""
    owner = MembershipFactory(team=TeamFactory(tenant=tenant), role=Role.OWNER)
    default_rules.create_default_rules(owner.team)
    send_all_alerts(canaries, owner.team)
    browser, seen, left = Client(), set[str](), ["/", "/nowhere/", *named_pages()]
    browser.force_login(owner.user)
    while left and len(seen) < MOST:
        address = left.pop(0)
        if address in seen:
            continue
        seen.add(address)
        answer = browser.get(address)
        canaries.scan("a header of a page", repr(answer.headers))
        if not answer.streaming:
            canaries.scan("a page", answer.content)
            found = LINKS.findall(answer.content.decode(errors="replace"))
            left += [link for link in map(html.unescape, found) if not NOT_PAGES.search(link)]
    asyncio.run(scan_export_file(canaries, owner))
    return len(seen)


def named_pages() -> list[str]:
    names = ("library", "ledger", "tokens", "reconciliation", "alerts-unread")
    return [reverse(name) for name in names]


async def scan_export_file(canaries: Canaries, owner: Membership) -> None:
    browser = AsyncClient()
    await browser.aforce_login(owner.user)
    answer: Any = await browser.get(reverse("ledger-export"))
    canaries.scan("the CSV file", *[part async for part in answer.streaming_content])


def send_all_alerts(canaries: Canaries, team: Team) -> None:
    """Alerts as they come of it, and one that quotes what a charge says."""
    AlertRule.objects.create(team=team, kind=AlertKind.BALANCE, threshold=10**8)
    for delivery in evaluate_team(team.pk):
        attempt_delivery(delivery.pk)
    for event in AlertEvent.objects.filter(team=team):
        canaries.scan("the body of a webhook", webhook.webhook_payload(event))
    assert settings.EMAIL_BACKEND.endswith("locmem.EmailBackend")
