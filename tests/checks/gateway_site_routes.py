"""The routes of the gateway that the site answers, as openapi.json describes them."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
TEXT, WHOLE, TIME = (
    {"type": "string"},
    {"type": "integer"},
    {"type": "string", "format": "date-time"},
)
CREDITS = {"type": "string", "pattern": r"^-?\d+(\.\d+)?$"}
UUID, OBJECT = {"type": "string", "format": "uuid"}, {"type": "object"}


def or_null(shape: Json) -> Json:
    return {"anyOf": [shape, {"type": "null"}]}


def shape_of(properties: Json, *optional: str) -> Json:
    required = [name for name in properties if name not in optional]
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


PERSON = or_null(shape_of({"id": WHOLE, "name": TEXT, "email": TEXT}))
KEY = or_null(shape_of({"id": UUID, "name": TEXT}))
JOB = or_null(shape_of({"id": UUID, "kind": TEXT, "service_id": or_null(TEXT), "title": TEXT}))
ROWS: dict[str, Json] = {
    "Usage": shape_of(
        {
            "job": JOB,
            "operation": or_null(TEXT),
            "person": PERSON,
            "key": KEY,
            "labels": {"type": "array", "items": TEXT},
            "credits": CREDITS,
            "refund": CREDITS,
            "first_booked_at": TIME,
        }
    ),
    "LedgerRow": shape_of(
        {
            "account": shape_of({"id": UUID, "name": TEXT}),
            "position": WHOLE,
            "happened_at": TIME,
            "amount": CREDITS,
            "reason": TEXT,
            **dict.fromkeys(("label", "content_type", "transaction_type"), TEXT),
            "via_api": {"type": ["boolean", "null"]},
            "operation": or_null(TEXT),
            "person": PERSON,
            "key": KEY,
            "job": JOB,
            "charge": or_null(UUID),
            "confidence": or_null({"enum": ["certain", "likely", "weak"]}),
        }
    ),
    "Budget": shape_of(
        {
            "budget": UUID,
            "person": PERSON,
            "period": {"enum": ["day", "week", "month"]},
            "starts_at": TIME,
            "ends_at": TIME,
            "spent": CREDITS,
            "held": CREDITS,
            **dict.fromkeys(("limit", "alert_at", "left"), or_null(CREDITS)),
            "label": or_null(TEXT),
            "raised_by": CREDITS,
            "raised_until": or_null(TIME),
        }
    ),
    "AuditEntry": shape_of(
        {
            **dict.fromkeys(("team_id", "team_name", "actor_kind", "actor_id"), TEXT),
            **dict.fromkeys(("actor_name", "source", "client_ip", "action", "target"), TEXT),
            **dict.fromkeys(("before", "after", "details"), OBJECT),
            **dict.fromkeys(("previous_hash", "row_hash", "title"), TEXT),
            "position": WHOLE,
            "happened_at": TIME,
        }
    ),
}
IMPORTED = shape_of(
    {
        "job": UUID,
        "kind": TEXT,
        "id": TEXT,
        "title": TEXT,
        "created_at": TIME,
        "state": {"enum": ["draft", "running", "completed", "failed"]},
        "finished_at": or_null(TIME),
    }
)
SPAN = shape_of(dict.fromkeys(("low", "usual", "high", "limit"), CREDITS))
BATCH_HEAD: Json = {
    "batch": UUID,
    "name": TEXT,
    "state": TEXT,
    "pause_reason": TEXT,
    "max_credits": or_null(CREDITS),
    "created_at": TIME,
    "started_at": or_null(TIME),
    "url": TEXT,
    "approval_url": or_null(TEXT),
    "counts": {"type": "object", "additionalProperties": WHOLE},
}
BATCH_ROW = shape_of(
    {
        "row": WHOLE,
        "title": TEXT,
        "state": TEXT,
        "message": TEXT,
        "problems": {
            "type": "array",
            "items": shape_of(
                {"column": or_null(TEXT), "message": TEXT, "suggestion": or_null(TEXT)}
            ),
        },
        "price": or_null(SPAN),
        "spent": CREDITS,
        "held": CREDITS,
        "job": or_null(UUID),
    }
)
BATCH = shape_of(
    {
        **BATCH_HEAD,
        "rows": {"type": "array", "items": BATCH_ROW},
        "price": or_null(SPAN),
        "version": or_null(TEXT),
        "approval_required": {"type": ["boolean", "null"]},
        **dict.fromkeys(("credits_left", "balance_after"), or_null(CREDITS)),
        "top_ups": or_null(TEXT),
        **dict.fromkeys(("spent", "held", "left"), or_null(CREDITS)),
        "finish_at": or_null(TIME),
    }
)
BATCH_OPTIONS: Json = {
    "max_credits": or_null({"type": ["number", "string"]}),
    "max_failures": {"type": "integer", "minimum": 0, "maximum": 500},
}
CELL = {"type": ["string", "number", "boolean", "null"]}
NEW_BATCH = shape_of(
    {
        "rows": {
            "type": "array",
            "minItems": 1,
            "maxItems": 500,
            "items": {"type": "object", "additionalProperties": CELL},
        },
        "name": {"type": "string", "maxLength": 80},
        "preset": {"type": "string", "description": "The name of a preset of the team."},
        "at_once": {"type": "integer", "minimum": 1, "maximum": 4},
        **BATCH_OPTIONS,
        "start": {"type": "boolean", "description": "Start it, for at most max_credits."},
    },
    *("name", "preset", "at_once", "start", *BATCH_OPTIONS),
)
VERSION = {"type": "string", "description": "That of the dry run: start nothing else."}
# Action, summary, body.
BATCH_ACTIONS: tuple[tuple[str, str, Json], ...] = (
    (
        "start",
        "Start a batch, for at most max_credits",
        shape_of({"max_credits": BATCH_OPTIONS["max_credits"], "version": VERSION}, "version"),
    ),
    ("pause", "Begin no further row", shape_of({})),
    ("resume", "Go on, within these limits", shape_of(BATCH_OPTIONS, *BATCH_OPTIONS)),
    ("cancel", "Cancel the rows that have not begun, or what a person was asked for", shape_of({})),
)
PARAMETERS = {
    "from": "Rows from this time on, UTC; without it those of the 30 days before “to”.",
    "to": "Rows before this time, UTC; without it those until now.",
    "person": "The id of a person, or their e-mail address.",
    "key": "The id of an API key, or its readable beginning.",
    "label": "The id or the name of a label.",
    "limit": "Rows of a page, 1 to 500; 50 without it.",
    "cursor": "next_cursor of the page before.",
}
TIMES = ("from", "to")
# Path, row, what it is, filters.
REPORTS = (
    ("usage", "Usage", "What each job cost", (*TIMES, "person", "key", "label")),
    ("ledger", "LedgerRow", "The rows of the ledger", (*TIMES, "person", "label")),
    ("budgets", "Budget", "Budgets and what is left of them", ("person", "label")),
    ("audit", "AuditEntry", "The entries of the audit log", (*TIMES, "person")),
)


def enveloped(data: Json) -> Json:
    return shape_of({"message": TEXT, "status": WHOLE, "data": data})


def page_shape(row: str) -> Json:
    rows = {"type": "array", "items": {"$ref": f"#/components/schemas/{row}"}}
    return enveloped(shape_of({"rows": rows, "next_cursor": or_null(TEXT)}))


SITE_SCHEMAS: Json = {
    **ROWS,
    **{f"{row}Page": page_shape(row) for _, row, _, _ in REPORTS},
    "ImportedJob": enveloped(IMPORTED),
    "Batch": enveloped(BATCH),
    "BatchHead": shape_of(BATCH_HEAD),
    "BatchPage": page_shape("BatchHead"),
}


def describe_site_routes() -> Json:
    """The paths of the reports, of the import and of batches."""
    paths = {
        f"/_{name}": {"get": describe_report(name, row, summary, filters)}
        for name, row, summary, filters in REPORTS
    }
    return {**paths, "/_imports": {"post": describe_import()}, **describe_batches()}


def describe_batches() -> Json:
    made = answer("It is stored, and started if that was asked for.", "Batch")
    waits = answer("A person has to approve it at approval_url. Nothing was started.", "Batch")
    known = {"200": answer("What is known of it.", "Batch")}
    id = {"name": "id", "in": "path", "required": True, "schema": UUID}
    cursor = {"name": "cursor", "in": "query", "schema": TEXT}
    cursor["description"] = PARAMETERS["cursor"]
    create = {
        "operationId": "batches.create",
        "summary": "Many videos from rows: the dry run, and with start the videos",
        "tags": ["Batches"],
        "parameters": [{"$ref": "#/components/parameters/Idempotency-Key"}],
        "requestBody": {"required": True, **json_content(NEW_BATCH)},
        "responses": {"201": made, "202": waits} | refusals("402", "409", "413", "422"),
    }
    listed = {
        "operationId": "batches.list",
        "summary": "The batches of the team, the newest first",
        "tags": ["Batches"],
        "parameters": [cursor],
        "responses": {"200": answer("One page of batches.", "BatchPage")} | refusals("409"),
    }
    shown = {
        "operationId": "batches.get",
        "summary": "The dry run of a batch, or its progress",
        "tags": ["Batches"],
        "parameters": [id],
        "responses": known | refusals("404", "409"),
    }
    acts = {
        f"/_batches/{{id}}/{name}": {
            "post": {
                "operationId": f"batches.{name}",
                "summary": summary,
                "tags": ["Batches"],
                "parameters": [id],
                "requestBody": json_content(body),
                "responses": known
                | ({"202": waits} if name == "start" else {})
                | refusals("402", "404", "409", "413"),
            }
        }
        for name, summary, body in BATCH_ACTIONS
    }
    return {"/_batches": {"post": create, "get": listed}, "/_batches/{id}": {"get": shown}, **acts}


def describe_report(name: str, row: str, summary: str, filters: tuple[str, ...]) -> Json:
    parameters = [
        {"name": param, "in": "query", "description": PARAMETERS[param], "schema": TEXT}
        for param in (*filters, "limit", "cursor")
    ]
    return {
        "operationId": f"reports.{name}",
        "summary": summary,
        "tags": ["Reports"],
        "parameters": parameters,
        "responses": {"200": answer("One page of rows.", f"{row}Page")} | refusals("409"),
    }


def describe_import() -> Json:
    fields = {
        "kind": {"enum": ["faceless", "clip", "storyboard"]},
        "id": {"anyOf": [TEXT, WHOLE], "description": "As the service shows it."},
    }
    return {
        "operationId": "imports.create",
        "summary": "Take a job that exists at the service into the library",
        "description": "Free. The same id twice gives one job: 201 the first time, then 200.",
        "tags": ["Imports"],
        "requestBody": {"required": True, **json_content(shape_of(fields))},
        "responses": {
            "200": answer("It is in the library already.", "ImportedJob"),
            "201": answer("It is new in the library.", "ImportedJob"),
        }
        | refusals("404", "409", "413"),
    }


def answer(description: str, schema: str) -> Json:
    shape = {"$ref": f"#/components/schemas/{schema}"}
    return {"description": description, **json_content(shape)}


def refusals(*statuses: str) -> Json:
    every = ("400", "401", "403", *statuses, "429")
    return {status: {"$ref": f"#/components/responses/{status}"} for status in every}


def json_content(schema: Json) -> Json:
    return {"content": {"application/json": {"schema": schema}}}
