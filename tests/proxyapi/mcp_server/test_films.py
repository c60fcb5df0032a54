"""An agent makes films: from a quote to the link of the file, and each is paid once."""

from __future__ import annotations

import pytest

from proxyapi.models import Charge, GatewayRequest
from tests.proxyapi.mcp_server.conftest import FILM, Agent, finish_render
from tests.sandbox.conftest import SandboxClient


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_from_a_quote_to_the_link_of_the_film(
    agent: Agent, sandbox: SandboxClient, mode: str
) -> None:
    agent.mode = mode
    quoted = agent.call("quote", **FILM)
    assert quoted["status"] == "quoted", quoted
    quote = quoted["quote"]
    assert (quote["pays_for"], quote["approval_required"]) == ("render", False)
    assert not Charge.objects.exists()
    made = agent.pay(quote)
    assert made["status"] == "rendering", made
    job_id = made["job"]["job_id"]
    assert agent.call("wait", id=job_id, seconds=0)["status"] == "rendering"
    finish_render(sandbox, job_id)
    result = agent.result("wait", id=made["charge"]["charge_id"], seconds=0)
    assert result.structured_content["status"] == "completed"
    (link,) = [part for part in result.content if part.type == "resource_link"]
    assert str(link.uri) == result.structured_content["job"]["file"]
    logged = set(GatewayRequest.objects.values_list("operation", flat=True))
    assert {"mcp.quote", "mcp.make", "mcp.wait"} <= logged
