"""Somebody who has signed in and orders on a real sandbox; and the verdict on what was ordered."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import httpx
import pytest
from django.conf import settings as site
from django.test import Client as Browser

from dashboard.models import Role
from proxyapi import calls
from proxyapi.charges import ChargeIntent
from proxyapi.models import Charge
from proxyapi.models.charge import CHARGED_STATES
from proxyapi.operations import OPERATIONS
from proxyapi.upstream.client import UpstreamClient
from tests.factories import MembershipFactory, TeamFactory
from tests.proxyapi.money.ambiguous_charges import Where, charge_target, taken_per_request
from tests.proxyapi.money.charge_audit import ChargeAudit
from tests.proxyapi.money.conftest import sandbox
from tests.proxyapi.money.sandbox_account import FINAL_STATES, SandboxAccount, open_sandbox_account

__all__ = ["headers", "judge_orders", "sandbox", "sandbox_account"]
FORM = "c" * 32  # the secret of every form


@pytest.fixture
def sandbox_account(
    sandbox: str, transactional_db: None, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> Iterator[SandboxAccount]:
    settings.VIDEO_API_BASE_URL = f"{sandbox}/v2"
    with (
        UpstreamClient(f"{sandbox}/v2", OPERATIONS) as client,
        httpx.Client(base_url=f"{sandbox}/_sandbox/", timeout=60) as control,
    ):
        monkeypatch.setattr(calls, "upstream_client", lambda: client)
        with open_sandbox_account(control) as stage:
            yield stage


@pytest.fixture
def headers(sandbox_account: SandboxAccount) -> dict[str, str]:
    """Those of the browser of somebody who has signed in."""
    team, browser = TeamFactory(tenant=sandbox_account.token.tenant), Browser()
    owner = MembershipFactory(team=team, user=sandbox_account.token.owner, role=Role.OWNER)
    browser.force_login(owner.user)
    session = browser.cookies[site.SESSION_COOKIE_NAME].value
    cookies = f"{site.SESSION_COOKIE_NAME}={session}; {site.CSRF_COOKIE_NAME}={FORM}"
    return {"Cookie": cookies, "X-CSRFToken": FORM}


def judge_orders(
    stage: SandboxAccount, orders: Iterable[ChargeIntent], twice: list[str]
) -> ChargeAudit:
    """What each path that charges was sent and took, by the sandbox's journal, against our rows.
    `twice` gets the paths to which more was sent than was ordered."""
    verdict = ChargeAudit()
    theirs, ours = taken_per_request(stage), defaultdict[Where, list[Charge]](list)
    for charge in Charge.objects.filter(account=stage.token.account).select_related("job"):
        ours[charge_target(charge)].append(charge)
        if charge.state not in FINAL_STATES:
            verdict.open.append(f"{charge.operation} {charge.state} {charge.reason}")
    there = set(Charge.objects.values_list("nonce", flat=True))
    verdict.lost = [it.operation for it in orders if it.nonce not in there]
    for way, charges in ours.items():
        costs = [charge.cost for charge in charges if charge.state in CHARGED_STATES]
        told = f"{way}: {Counter(it.state for it in charges)} {costs}, it took {theirs[way]}"
        took, cost = Counter(filter(None, theirs[way])), Counter(filter(None, costs))
        verdict.charges += len(charges)
        verdict.false_failed += [told] if took - cost else []
        verdict.unexplained += [told] if cost - took else []
        twice += [told] if len(theirs[way]) > len(charges) else []
    return verdict
