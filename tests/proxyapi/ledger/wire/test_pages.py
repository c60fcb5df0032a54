"""The ledger's pages and the service's own money: nothing between them."""

from __future__ import annotations

from random import Random

from proxyapi.models import Job
from tests.proxyapi.ledger.wire.page_totals import AccountActivity, page_differences
from tests.proxyapi.ledger.wire.sandbox_service import SandboxService


def test_the_pages_add_up_to_the_services_money(sandbox_service: SandboxService, job: Job) -> None:
    life = AccountActivity(sandbox_service, job, Random(5))  # noqa: S311
    life.prepare()
    for act in (
        life.charge_job,
        life.refund_render,
        life.grant_credits,
        life.spend_in_web,
        life.spend_by_script,
    ):
        act()
    life.perform(8)
    money = sandbox_service.money()
    assert money["refunds"]
    assert money["top_ups"]
    assert page_differences(sandbox_service, life) == {}
