"""proxyapi/gateway/openapi.json: the description of the gateway, from that of the sandbox.

The service's operations are described by the sandbox's routes, which tests hold against the
specification; here they get what the gateway adds: its keys, its headers, and answers of its own.
Written by `python -m tests.checks.gateway_document` (and by `make fix`).
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from proxyapi.api_event_types import ApiEventType
from proxyapi.operations import OPERATIONS, Operation
from proxyapi.sandbox.app import create_app
from tests.checks.gateway_site_routes import SITE_SCHEMAS, describe_site_routes

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = "proxyapi/gateway/openapi.json"
Json = dict[str, Any]
DESCRIPTION = (
    "The API of the service under the portal's address, with API keys of the portal. Answers of "
    "the service are passed on byte for byte; what Reelroom answers itself has "
    "X-Reelroom-Source: reelroom. A charge is sent at most once. See docs/api.md."
)
# Answers that every operation may have, by status.
SHARED_RESPONSES = {
    "400": "The request cannot be passed on, or the service refuses it.",
    "401": "The API key is missing, unknown, expired or revoked.",
    "402": "The credits of the account or a budget do not suffice. Nothing was charged.",
    "403": "The key, its member or the service does not allow it.",
    "404": "The path or the resource does not exist.",
    "409": "It is not possible now, the price rose above the quote, or the first request with this "
    "Idempotency-Key or quote is running.",
    "413": "The body is too large. Nothing was sent.",
    "422": "The service refuses the values, or the Idempotency-Key or quote is of another request.",
    "429": "The turn of the request did not come in time. Retry-After has the seconds to wait.",
    "502": "The service gave no answer that can be passed on.",
    "503": "The service or the portal cannot take the request now. Nothing was sent.",
}
REPLAYING = (
    "The same key and request again get the first answer, and nothing is sent again. Kept for two "
    "days."
)
SPENDING = (
    "A quote of POST /_quotes for this request. It is spent once; then the same request gets what "
    "is known of its charge."
)
WAITING = "wait=N: seconds that the request waits for its turn, 20 without it, at most 300."
HEADERS = {
    "Reelroom-Request-Id": "The id of the request in the portal's log.",
    "Reelroom-Charge-Id": "The id of its charge: GET /_charges/{id}.",
    "X-Reelroom-Source": "“service”, “reelroom”, or “poll” for what the portal read before (Age).",
    "Idempotent-Replayed": "“true” if it is the answer of an earlier request.",
}
PARAMETERS = {
    "Idempotency-Key": (REPLAYING, {"type": "string", "minLength": 1, "maxLength": 255}),
    "Reelroom-Quote": (SPENDING, {"type": "string", "pattern": "^quote_[0-9a-f]{32}$"}),
    "Prefer": (WAITING, {"type": "string", "examples": ["wait=60"]}),
}
NUMBER, TEXT = {"type": "string", "pattern": r"^-?\d+(\.\d+)?$"}, {"type": "string"}
TIME = {"type": ["string", "null"]}
CHARGE_FIELDS: Json = {
    "charge": {"type": "string", "format": "uuid"},
    "operation": TEXT,
    "state": {
        "enum": [
            *("approval_required", "held", "sending", "confirmed", "refused", "unknown"),
            *("matched", "written_off"),
        ]
    },
    "reason": TEXT,
    "price": {"anyOf": [NUMBER, {"type": "null"}]},
    "held": {"anyOf": [NUMBER, {"const": 0}]},
    "cost": {"anyOf": [NUMBER, {"type": "null"}]},
    "resource": {"type": ["string", "null"]},
    **dict.fromkeys(("created_at", "sent_at", "settled_at", "refunded_at"), TIME),
    "url": TEXT,
    "approval_url": TEXT,
}
CHARGE_SHAPE: Json = {
    "type": "object",
    "description": "What is known of a charge: not sent yet, answer lost, or ended.",
    "required": ["message", "status", "data"],
    "properties": {
        "message": TEXT,
        "status": {"type": "integer"},
        "data": {
            "type": "object",
            "required": [name for name in CHARGE_FIELDS if name != "approval_url"],
            "properties": CHARGE_FIELDS,
        },
    },
}
AMOUNT = {"anyOf": [NUMBER, {"type": "null"}]}
QUOTE_FIELDS: Json = {
    "quote": TEXT,
    "operation": TEXT,
    "state": {"enum": ["open", "expired", "spent"]},
    "price": AMOUNT,
    "upper_bound": AMOUNT,
    "exact": {"type": "boolean"},
    "approval_required": {"type": ["boolean", "null"]},
    "credits_left": AMOUNT,
    "balance_left": AMOUNT,
    "expires_at": TEXT,
    "charge": {"anyOf": [{"type": "object", "properties": CHARGE_FIELDS}, {"type": "null"}]},
}
QUOTE_SHAPE: Json = {
    "type": "object",
    "description": "The price of one request, and what became of it.",
    "required": ["message", "status", "data"],
    "properties": {
        "message": TEXT,
        "status": {"type": "integer"},
        "data": {"type": "object", "required": [*QUOTE_FIELDS], "properties": QUOTE_FIELDS},
    },
}
FILE_HASH: Json = {"type": "object", "properties": {"field": TEXT, "sha256": TEXT}}
QUOTED_REQUEST: Json = {
    "type": "object",
    "required": ["method", "path"],
    "additionalProperties": False,
    "properties": {
        "method": {"enum": ["POST", "PUT"]},
        "path": {"type": "string", "examples": ["/faceless/1/render"]},
        "body": {"type": ["object", "null"], "description": "Of a form: its fields, as text."},
        "files": {"type": "array", "items": FILE_HASH, "description": "Those of a form, in order."},
    },
}
REFUSAL_SHAPE: Json = {
    "type": "object",
    "description": "Of the service or of Reelroom. error.code says which refusal it is.",
    "properties": {
        "message": TEXT,
        "status": {"type": "integer"},
        "error": {"type": "object", "properties": {"code": TEXT, "request_id": TEXT}},
    },
}


def render_document() -> str:
    """The description as JSON, a line for each operation and each schema."""
    with tempfile.TemporaryDirectory() as folder:
        described = create_app(media_dir=Path(folder)).openapi()
    return dump(build_document(described), 3) + "\n"


def dump(value: Any, levels: int) -> str:
    """JSON with a line for each key of so many levels."""
    if not levels or not isinstance(value, dict) or not value:
        return json.dumps(value, ensure_ascii=False)
    lines = (f"{json.dumps(name)}: {dump(part, levels - 1)}" for name, part in value.items())
    return "{\n" + ",\n".join(lines) + "\n}"


def build_document(described: Json) -> Json:
    """The description of the gateway. `described` is that of the sandbox."""
    by_shape = {
        (path_shape(path.removeprefix("/v2")), method): operation
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
    }
    paths: Json = {}
    for row in OPERATIONS.values():
        method = row.method.lower()
        operation = describe_operation(row, by_shape[path_shape(row.path), method])
        paths.setdefault(row.path, {})[method] = operation
    paths["/_charges/{id}"] = describe_charge_routes()
    paths |= describe_quote_routes()
    paths |= describe_site_routes()
    paths["/_events"] = describe_event_stream()
    schemas = {
        **described["components"]["schemas"],
        "Charge": CHARGE_SHAPE,
        "Quote": QUOTE_SHAPE,
        "Refusal": REFUSAL_SHAPE,
        **SITE_SCHEMAS,
    }
    components = {
        "securitySchemes": {
            "ApiKey": {
                "type": "http",
                "scheme": "bearer",
                "description": "An API key of the portal: Authorization: Bearer rr_live_…",
            }
        },
        "parameters": {
            name: {"name": name, "in": "header", "description": text, "schema": schema}
            for name, (text, schema) in PARAMETERS.items()
        },
        "headers": {name: {"description": text, "schema": TEXT} for name, text in HEADERS.items()},
        "responses": {
            status: {"description": text, **json_content({"$ref": "#/components/schemas/Refusal"})}
            for status, text in SHARED_RESPONSES.items()
        },
    }
    return {
        "openapi": described["openapi"],
        "info": {"title": "Reelroom API", "version": "2.0.0", "description": DESCRIPTION},
        "servers": [{"url": "/api/v2"}],
        "security": [{"ApiKey": []}],
        "paths": paths,
        "components": {**components, "schemas": used_schemas(paths, schemas)},
    }


def path_shape(path: str) -> str:
    return re.sub(r"\{\w+\}", "{}", path)


def describe_operation(row: Operation, of_sandbox: Json) -> Json:
    """One operation of the service through the gateway."""
    described_parts = of_sandbox.get("parameters", [])
    own = re.findall(r"\{(\w+)\}", row.path)
    # Another name for the same place, such as {id} for {faceless}.
    others = iter([name for name in own if all(name != part["name"] for part in described_parts)])
    parameters = [
        {**part, "name": next(others)} if part["in"] == "path" and part["name"] not in own else part
        for part in described_parts
    ]
    headers = ["Prefer"] if row.method == "GET" else ["Prefer", "Idempotency-Key"]
    headers += ["Reelroom-Quote"] if row.charging else []
    parameters += [{"$ref": f"#/components/parameters/{name}"} for name in headers]
    described = {
        "operationId": row.name,
        "summary": of_sandbox["summary"],
        "tags": of_sandbox["tags"],
        "parameters": parameters,
        "responses": describe_responses(row, of_sandbox["responses"]),
    }
    if body := of_sandbox.get("requestBody"):
        described["requestBody"] = body
    if row.charging:
        described["description"] = (
            "Charges credits. 202 with “data.charge” says that a person has to approve it, that it "
            "is in progress, or that its answer was lost."
        )
    return described


def describe_responses(row: Operation, of_sandbox: Json) -> Json:
    """What the service answers, and what the gateway answers itself."""
    responses = {
        status: {**response, "headers": references("headers", HEADERS)}
        for status, response in of_sandbox.items()
        if int(status) < 400
    }
    if row.charging:
        charge = {"$ref": "#/components/schemas/Charge"}
        known = responses.get("202", {}).get("content", {}).get("application/json", {})
        shape = {"anyOf": [known["schema"], charge]} if "schema" in known else charge
        responses["202"] = {
            "description": "Accepted, or what is known of the charge.",
            "headers": references("headers", HEADERS),
            **json_content(shape),
        }
    return responses | references("responses", SHARED_RESPONSES)


def describe_charge_routes() -> Json:
    """GET and DELETE of a charge, which the service does not have."""
    shape = {"$ref": "#/components/schemas/Charge"}
    answers = {"200": {"description": "What is known of the charge.", **json_content(shape)}}
    refused = references("responses", ("401", "403", "404"))
    uuid = {"type": "string", "format": "uuid"}
    parameter = {"name": "id", "in": "path", "required": True, "schema": uuid}
    same = {"tags": ["Charges"], "parameters": [parameter]}
    return {
        "get": {
            **same,
            "operationId": "charges.get",
            "summary": "Ask for a charge",
            "responses": answers | refused,
        },
        "delete": {
            **same,
            "operationId": "charges.cancel",
            "summary": "Cancel a charge that was not sent",
            "responses": answers | refused | references("responses", ("409",)),
        },
    }


def describe_quote_routes() -> Json:
    shape = json_content({"$ref": "#/components/schemas/Quote"})
    parameter = {"name": "id", "in": "path", "required": True, "schema": TEXT}
    return {
        "/_quotes": {
            "post": {
                "operationId": "quotes.create",
                "summary": "Ask for the price of a charge",
                "tags": ["Quotes"],
                "parameters": [{"$ref": "#/components/parameters/Prefer"}],
                "requestBody": {"required": True, **json_content(QUOTED_REQUEST)},
                "responses": {"201": {"description": "The quote.", **shape}}
                | references("responses", SHARED_RESPONSES),
            }
        },
        "/_quotes/{id}": {
            "get": {
                "operationId": "quotes.get",
                "summary": "Ask for a quote",
                "tags": ["Quotes"],
                "parameters": [parameter],
                "responses": {"200": {"description": "What the quote says now.", **shape}}
                | references("responses", ("401", "403", "404", "409")),
            }
        },
    }


def describe_event_stream() -> Json:
    """GET of the events, which the service does not have."""
    types = {"type": "array", "items": {"enum": ApiEventType.values}}
    sent = "Each message has an id, its type as event, and as data JSON: id, type, timestamp, data."
    return {
        "get": {
            "tags": ["Events"],
            "operationId": "events.stream",
            "summary": "Events as they happen, as Server-Sent Events",
            "parameters": [
                {
                    "name": "types",
                    "in": "query",
                    "schema": types,
                    "style": "form",
                    "explode": False,
                    "description": "Without it all.",
                },
                {
                    "name": "Last-Event-ID",
                    "in": "header",
                    "schema": TEXT,
                    "description": "The id of the last message: what followed it is sent first.",
                },
            ],
            "responses": {
                "200": {"description": sent, "content": {"text/event-stream": {"schema": TEXT}}},
                **references("responses", ("400", "401", "403")),
            },
        }
    }


def json_content(schema: Json) -> Json:
    return {"content": {"application/json": {"schema": schema}}}


def references(part: str, names: Iterable[str]) -> Json:
    return {name: {"$ref": f"#/components/{part}/{name}"} for name in names}


def used_schemas(paths: Json, schemas: Json) -> Json:
    """The schemas that the paths refer to, directly or through others."""
    used, waiting = {"Refusal"}, [*referred_schemas(paths)]
    while waiting:
        name = waiting.pop()
        if name not in used:
            used.add(name)
            waiting += referred_schemas(schemas[name])
    return {name: schemas[name] for name in sorted(used)}


def referred_schemas(value: Any) -> list[str]:
    return re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(value))


def find_document_problems(root: Path) -> Iterator[str]:
    """Say if the committed description is not that of today's code."""
    if (root / DOCUMENT).read_text(encoding="utf-8") != render_document():
        yield f"{DOCUMENT} is out of date. Run: make fix"


if __name__ == "__main__":
    (ROOT / DOCUMENT).write_text(render_document(), encoding="utf-8")
