"""A team on the sandbox that makes batches: its owner, past renders with a price, and rows."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from dashboard.batches import actions
from dashboard.batches.dry_run import load_dry_run
from dashboard.batches.table_file import Table
from dashboard.models import Batch, Membership, Role
from proxyapi.models import Draft, Job, Token
from tests.dashboard.batches.conftest import add_past_renders
from tests.factories import MembershipFactory, TeamFactory

FIELDS = ("title", "topic", "length")


def found_team(token: Token, *costs: int) -> Membership:
    """The owner of the token, whose team rendered films of a minute for these credits."""
    owner = Membership.objects.filter(team__tenant=token.tenant, user=token.owner).first()
    if owner is None:
        team = TeamFactory(tenant=token.tenant)
        owner = MembershipFactory.create(team=team, user=token.owner, role=Role.OWNER)
    add_past_renders(token, *costs)
    engine = token.account.options["mandatory"]["image_engines"][0]["id"]
    for draft in Draft.objects.filter(job__tenant=token.tenant):
        draft.settings["image_engine_id"] = engine
        draft.save()
    Job.objects.filter(tenant=token.tenant).update(member=token.owner)
    return owner


def store_batch(by: Membership, rows: Iterable[tuple[Any, ...]], **settings: Any) -> Batch:
    """A batch of these rows, of `FIELDS`, which has not started."""
    cells = {number: [*map(str, row)] for number, row in enumerate(rows, start=1)}
    return actions.create_batch(
        by=by,
        name="Drill",
        file_name="",
        table=Table([*FIELDS], cells),
        preset=None,
        max_failures=0,
        **settings,
    )


def start_batch(by: Membership, batch: Batch) -> Decimal:
    """Start it as its page does; what was shown as the usual price of all rows, in credits."""
    run = load_dry_run(by, batch, list(batch.rows.all()))
    assert len(run.ready) == len(run.checks), [check.problems for check in run.checks]
    seen, version = run.total.usual, actions.dry_run_version(run)
    actions.start_batch(by=by, batch=batch, seen=seen, version=version)
    return seen


def retry_failed(by: Membership, batch: Batch) -> int:
    """Send the failed rows again, as the page does; how many they were."""
    rows = actions.load_failed_rows(batch)
    run = load_dry_run(by, batch, rows)
    seen, version = run.total.usual, actions.dry_run_version(run)
    return actions.retry_failed_rows(by=by, batch=batch, seen=seen, version=version)
