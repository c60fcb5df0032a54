"""The description of the gateway: served without a key, and true to its routes."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import httpx
import pytest
import schemathesis
from schemathesis.core.result import Ok
from starlette.routing import Route

from proxyapi.gateway.app import create_app
from proxyapi.operations import OPERATIONS

SERVED_HERE = {"/openapi.json"}


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return dict(json.loads(asyncio.run(fetch_document()).content))


async def fetch_document() -> httpx.Response:
    transport = httpx.ASGITransport(create_app())
    async with httpx.AsyncClient(transport=transport, base_url="http://reelroom") as client:
        return await client.get("/api/v2/openapi.json")


def test_it_needs_no_key() -> None:
    answer = asyncio.run(fetch_document())
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")


def test_it_describes_the_routes_of_the_gateway_and_nothing_else(document: dict[str, Any]) -> None:
    described = {
        (path, method.upper()) for path, methods in document["paths"].items() for method in methods
    }
    served = {
        (re.sub(r":\w+}", "}", route.path.removeprefix("/api/v2")), method)
        for route in create_app().routes
        if isinstance(route, Route)
        for method in route.methods or ()
        if method != "HEAD"
    }
    assert described == {row for row in served if row[0] not in SERVED_HERE}


def test_each_operation_can_be_called_from_its_description(document: dict[str, Any]) -> None:
    found = list(schemathesis.openapi.from_dict(document).get_all_operations())
    assert (
        len(found) == len(OPERATIONS) + 2 + 2 + 5 + 7 + 1
    )  # of charges, quotes, the site, its batches, events
    for operation in found:
        assert isinstance(operation, Ok), operation
        names = {part.name for part in operation.ok().path_parameters}
        assert names == set(re.findall(r"{(\w+)}", operation.ok().path))


def test_charges_tell_of_idempotency_keys_and_of_202(document: dict[str, Any]) -> None:
    for row in OPERATIONS.values():
        operation = document["paths"][row.path][row.method.lower()]
        text = json.dumps(operation)
        assert ("Idempotency-Key" in json.dumps(operation["parameters"])) is (row.method != "GET")
        assert ("schemas/Charge" in text) >= row.charging, row.name
        assert ("parameters/Reelroom-Quote" in text) is row.charging, row.name
    assert document["components"]["securitySchemes"]["ApiKey"]["scheme"] == "bearer"
