"""Steps of "Write and render" for its tests: confirm it, let the script and its price arrive."""

from __future__ import annotations

import re
import uuid
from decimal import Decimal
from typing import Any

from django.utils import timezone

from dashboard.models import Membership, settings_digest
from dashboard.studio.planned_renders import plan_render
from proxyapi.charges import transitions
from proxyapi.models import Charge, ChargeState, Draft, Job
from proxyapi.upstream.reply import Reply, ReplyCredits
from tests.dashboard.studio.conftest import SCRIPT, WANTED
from tests.factories import ChargeFactory, JobFactory

TOPIC = {"topic": "How ice moves", "duration": 60}
WITHOUT_SCRIPT = {name: value for name, value in WANTED.items() if name != "script"}
LIMIT = Decimal(119)  # of `confirm`: the hold of a price of 108


def create_unwritten_draft(job: Job) -> Job:
    """A draft like `ready`, without its script and price."""
    Draft.objects.filter(pk=job.pk).update(
        settings=WITHOUT_SCRIPT, sent_settings=WITHOUT_SCRIPT, estimate=None
    )
    return fresh(job)


def fresh(job: Job) -> Job:
    return Job.objects.select_related("draft", "account", "token").get(pk=job.pk)


def add_past_renders(job: Job, *costs: int) -> None:
    """Renders of the team like the one that is planned."""
    for cost in costs:
        other = JobFactory(account=job.account, token=job.token, draft__settings=WANTED)
        now = timezone.now()
        fields = {"state": ChargeState.CONFIRMED, "sent_at": now, "settled_at": now}
        ChargeFactory(job=other, cost=Decimal(cost), applied_at=now, **fields)


def confirm(by: Membership, job: Job, limit: Decimal = LIMIT) -> Charge:
    """The charge of the script, held, with its plan."""
    digest = settings_digest(fresh(job).draft.settings)
    shown: dict[str, Any] = {"seen": Decimal(4), "limit": limit, "digest": digest}
    return plan_render(by=by, job=fresh(job), nonce=uuid.uuid4(), chosen=dict(TOPIC), **shown)


def send_script(charge: Charge) -> None:
    """The request is with the service."""
    now = timezone.now()
    Charge.objects.filter(pk=charge.pk).update(
        state=ChargeState.SENDING, sent_at=now, heartbeat_at=now, attempts=1
    )


def write_script(charge: Charge, script: str = SCRIPT) -> None:
    """The service answers with the script, at its price."""
    send_script(charge)
    data = {"id": 501, "script": script}
    reply = Reply(data, {}, ReplyCredits(Decimal(4), None), None, 200)
    transitions.apply_reply(Charge.objects.get_with_relations(charge.pk), reply)


def price_draft(job: Job, credits: int = 96) -> None:
    """The price that was requested arrives."""
    draft = Draft.objects.get(pk=job.pk)
    draft.sent_settings, draft.quote_due_at = draft.settings, None
    draft.estimate, draft.estimate_as_of = Decimal(credits), timezone.now()
    draft.save()


def render_charges(job: Job) -> list[Charge]:
    return list(Charge.objects.filter(job=job, operation="faceless.render"))


def hidden_fields(html: str) -> dict[str, str]:
    """The hidden fields of the dialog."""
    dialog = html[html.index("<dialog") :]
    pairs = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', dialog)
    return {name: value for name, value in pairs if name != "csrfmiddlewaretoken"}
