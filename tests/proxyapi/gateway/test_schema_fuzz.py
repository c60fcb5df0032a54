"""Made-up calls through the gateway get no 5xx of ours, and only what its document describes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
from schemathesis.core.result import Ok

from dashboard.models import Membership
from proxyapi.credentials import token_vault
from proxyapi.gateway import keys
from proxyapi.gateway.app import create_app
from proxyapi.gateway.document import DOCUMENT_PATH
from proxyapi.models import Charge, KeyScope
from proxyapi.upstream.secret import Secret
from tests.examples import examples
from tests.external_state import empty_external_state
from tests.factories import AccountFactory, TokenFactory
from tests.proxyapi.gateway.conftest import Script, Worker
from tests.proxyapi.gateway.sandbox_script import use_sandbox
from tests.sandbox.conftest import SandboxClient
from tests.sandbox.fuzzing import FuzzPlayground

SEED = 20260115
EACH = examples(1, 40)


class GatewayPlayground(FuzzPlayground):
    """The callers of the sandbox's playground, each with a key on a token of its account."""

    def __init__(self, sandbox: SandboxClient, owner: Membership, loop: asyncio.Runner) -> None:
        super().__init__(sandbox)
        sandbox.set(rate_limit=600)  # the portal believes no limit of a billion
        self._picture = sandbox.world.snapshot()
        self.app, self.loop = create_app(), loop
        self.scripts = {
            value: self.script_of(value, owner)
            for name, value in self.bearers.items()
            if name != "nobody"
        }

    def script_of(self, value: str, owner: Membership) -> Script:
        account = AccountFactory(tenant=owner.team.tenant, balance=Decimal(10**9))
        token = TokenFactory(account=account, owner=owner.user)
        token_vault.encrypt_token_into(token, Secret(value))
        token.save()
        made = keys.create_key(
            owner.team.tenant, owner.user_id, "fuzz", tuple(KeyScope), token=token
        )
        return Script(self.app, self.loop, made.key, made.value)

    def restore(self) -> None:
        super().restore()
        empty_external_state()  # of the rate limits

    def operations(self) -> Iterator[Any]:
        """Those of the service; the rows of ours are not in the sandbox's world."""
        document = json.loads(DOCUMENT_PATH.read_text(encoding="utf-8"))
        del document["security"]
        paths = document["paths"].items()
        document["paths"] = {path: methods for path, methods in paths if "/_" not in path}
        for found in schemathesis.openapi.from_dict(document).get_all_operations():
            assert isinstance(found, Ok)
            yield found.ok()

    def _deliver(self, token: str, method: str, path: str, **sent: Any) -> httpx.Response:
        script = self.scripts.get(token)
        if script is None:
            script = next(iter(self.scripts.values()))
            sent["headers"]["Authorization"] = f"Bearer {token}"
        return script.call(method, path.removeprefix("/api/v2"), **sent)


@pytest.mark.slow
def test_no_made_up_call_gets_an_answer_that_is_not_described(
    tmp_path: Path, worker: Worker, mira: Membership, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hundreds of calls."""
    with asyncio.Runner() as loop:
        sandbox = SandboxClient(tmp_path, loop, db=None)
        use_sandbox(sandbox, monkeypatch)
        playground = GatewayPlayground(sandbox, mira, loop)
        for operation in playground.operations():
            playground.fuzz(operation, EACH, SEED)
    print(f"seed {SEED}, {playground.cases} calls: {sorted(playground.statuses.items())}")
    assert playground.statuses[200] >= 10
    assert not Charge.objects.filter(state="unknown").exists()
