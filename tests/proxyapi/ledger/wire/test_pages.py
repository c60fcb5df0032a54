"""The ledger's pages and the service's own money: nothing between them."""

from __future__ import annotations

from random import Random

from proxyapi.models import Job
from tests.proxyapi.ledger.wire.pages import Life, differences
from tests.proxyapi.ledger.wire.service import Service


def test_the_pages_add_up_to_the_services_money(service: Service, job: Job) -> None:
    life = Life(service, job, Random(5))  # noqa: S311
    life.prepare()
    for act in (life.charge, life.refund, life.grant, life.web, life.script):
        act()
    life.live(8)
    money = service.money()
    assert money["refunds"]
    assert money["top_ups"]
    assert differences(service, life) == {}
