"""A team that rendered videos like the rows of its batches, and a batch of Priya's."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from dashboard.batches import actions
from dashboard.batches.dry_run import load_dry_run
from dashboard.batches.runner import advance_batch
from dashboard.batches.table_file import read_table
from dashboard.models import Batch, BatchRow, Membership, PlannedRender
from dashboard.studio.planned_renders import continue_planned_render
from proxyapi.charges import transitions
from proxyapi.models import Charge, ChargeState, Job, JobState, RenderDurations, Token
from proxyapi.upstream.reply import Reply, ReplyCredits
from tests.dashboard.studio import conftest as studio
from tests.dashboard.studio.conftest import SCRIPT, WANTED
from tests.dashboard.studio.planned import price_draft, write_script
from tests.factories import ChargeFactory, JobFactory

account, token = studio.account, studio.token  # the fixtures
HEADERS = "title,topic,script,voice,genre,length,format\n"


def add_past_renders(
    token: Token,
    *costs: int,
    length: int = 60,
    subtype: str = "ai-visuals",
    settings: dict[str, Any] = WANTED,
) -> None:
    """Renders of the team of about this length in seconds, of four minutes each."""
    now = timezone.now()
    for number, cost in enumerate(costs):
        job = JobFactory.create(
            account=token.account,
            token=token,
            title=f"Earlier {length} {number}",
            draft__settings=settings,
            subtype=subtype,
            length=length,
        )
        fields = {"state": ChargeState.CONFIRMED, "sent_at": now, "settled_at": now}
        ChargeFactory.create(job=job, cost=Decimal(cost), applied_at=now, **fields)
    RenderDurations.objects.create(
        tenant=token.tenant,
        environment=token.account.environment,
        kind="faceless",
        subtype=subtype,
        length=length,
        seconds=[240.0] * 5,
    )


@pytest.fixture
def history(token: Token) -> Token:
    """Renders of 60 s cost 88 to 100 credits, and of 90 s 130: each takes four minutes."""
    add_past_renders(token, 88, 96, 100)
    add_past_renders(token, 130, length=120)
    return token


@pytest.fixture
def make_batch(history: Token, priya: Membership) -> Callable[..., Batch]:
    """A batch of these lines below `HEADERS`, not started."""

    def make(*lines: str, headers: str = HEADERS, **fields: Any) -> Batch:
        table = read_table(headers + "\n".join(lines))
        batch = actions.create_batch(
            by=priya, name="Lakes", file_name="lakes.csv", table=table, preset=None
        )
        Batch.objects.filter(pk=batch.pk).update(**fields)
        return Batch.objects.get(pk=batch.pk)

    return make


def topics(count: int) -> list[str]:
    return [f"Lake {number},What is lake {number}?,,,,," for number in range(1, count + 1)]


def dry_run(by: Membership, batch: Batch) -> Any:
    return load_dry_run(by, batch, list(batch.rows.all()))


def start(by: Membership, batch: Batch) -> Batch:
    run = dry_run(by, batch)
    version = actions.dry_run_version(run)
    return actions.start_batch(by=by, batch=batch, seen=run.total.usual, version=version)


def advance(batch: Batch) -> Batch:
    advance_batch(batch.pk)
    return Batch.objects.get(pk=batch.pk)


def states(batch: Batch) -> list[str]:
    return list(BatchRow.objects.filter(batch=batch).values_list("state", flat=True))


def jobs_of(batch: Batch) -> list[Job]:
    rows = BatchRow.objects.filter(batch=batch, job__isnull=False).order_by("number")
    return [row.job for row in rows.select_related("job__draft", "job__account") if row.job]


def charges_of(batch: Batch, operation: str = "faceless.render") -> list[Charge]:
    charges = Charge.objects.filter(job__batch_row__batch=batch, operation=operation)
    return list(charges.order_by("job__batch_row__number"))


def end_script(job: Job, price: int = 96) -> None:
    """The script of a job is written and priced."""
    write_script(Charge.objects.get(job=job, operation="faceless.scripts"), SCRIPT)
    price_draft(job, price)


def end_render(charge: Charge, cost: int = 96, *, failed: bool = False) -> None:
    """The render is sent, costs this much, and its video is done or failed."""
    now = timezone.now()
    assert charge.job_id
    Job.objects.filter(pk=charge.job_id).update(remote_id=f"r{charge.pk.hex[:12]}")
    Charge.objects.filter(pk=charge.pk).update(
        state=ChargeState.SENDING, sent_at=now, heartbeat_at=now, attempts=1
    )
    reply = Reply({}, {}, ReplyCredits(Decimal(cost), None), None, 200)
    transitions.apply_reply(Charge.objects.get_with_relations(charge.pk), reply)
    state = JobState.FAILED if failed else JobState.COMPLETED
    message = "Image for scene 7 could not be made." if failed else ""
    Job.objects.filter(pk=charge.job_id).update(
        state=state, finished_at=now, failure_message=message
    )


def render_all(batch: Batch) -> None:
    """Let everything that was begun end well, until nothing is left to begin."""
    for _ in range(50):
        batch = advance(batch)
        open_charges = Charge.objects.filter(
            job__batch_row__batch=batch, state=ChargeState.HELD
        ).select_related("job")
        if not open_charges:
            return
        for charge in open_charges:
            if charge.job is not None and charge.operation == "faceless.scripts":
                end_script(charge.job)
                continue_planned_render(charge.job.pk)
            else:
                end_render(charge)


def hidden_fields(html: str) -> dict[str, str]:
    """The hidden fields of the dialog that is open."""
    dialog = html[html.index("<dialog") :]
    pairs: Sequence[tuple[str, str]] = re.findall(
        r'<input type="hidden" name="([\w-]+)" value="([^"]*)">', dialog
    )
    return {name: value for name, value in pairs if name != "csrfmiddlewaretoken"}


def active_plans(batch: Batch) -> int:
    return PlannedRender.objects.active().filter(job__batch_row__batch=batch).count()
