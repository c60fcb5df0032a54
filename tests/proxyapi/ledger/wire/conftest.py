"""The real sandbox in its own process, its ledger as long as a test wants it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from proxyapi import calls
from proxyapi.ledger import mirror_range
from proxyapi.ledger.page_reader import LedgerReader, PageAddress, UpstreamLedgerPage
from proxyapi.models import Token
from proxyapi.rate_limiter import Permit
from proxyapi.upstream.tls import shared_ssl_context
from tests.proxyapi.ledger.wire.sandbox_service import SandboxService
from tests.proxyapi.money.conftest import account, control, job, sandbox, token

__all__ = ["account", "control", "job", "sandbox", "token"]


@pytest.fixture
def sandbox_service(
    control: httpx.Client,
    account: dict[str, Any],
    sandbox: str,
    token: Token,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[SandboxService]:
    """The account on the sandbox; nobody counts requests but its journal."""
    monkeypatch.setattr(calls, "acquire_permit", lambda *_: Permit(True, 0))
    monkeypatch.setattr(mirror_range, "CONTRADICTIONS_TO_BELIEVE", 1)  # see test_wrong_pages
    costs = {"content_prompt_requested": {"credits": 4}, "idea_discovery": {"credits": 15}}
    settings = {"rate_limit": 10**9, "journal_lines": 10**6, "costs": costs, "discovery_seconds": 0}
    assert control.put("settings", json=settings).is_success
    bearer = {"Authorization": f"Bearer {account['token']}"}
    with httpx.Client(
        base_url=f"{sandbox}/v2", headers=bearer, verify=shared_ssl_context(), timeout=30
    ) as direct:
        yield SandboxService(
            control, direct, account["account_id"], token, record_page_requests(monkeypatch)
        )


def record_page_requests(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, str]]:
    """Every page of the ledger that is asked for from now on, by number and view."""
    pages: list[tuple[int, str]] = []
    ask = LedgerReader.fetch_page

    def spied(source: LedgerReader, page: PageAddress, view: str = "") -> UpstreamLedgerPage:
        pages.append((page.number, view))
        return ask(source, page, view)

    monkeypatch.setattr(LedgerReader, "fetch_page", spied)
    return pages
