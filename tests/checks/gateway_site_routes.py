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
}


def describe_site_routes() -> Json:
    """The paths of the reports and of the import."""
    paths = {
        f"/_{name}": {"get": describe_report(name, row, summary, filters)}
        for name, row, summary, filters in REPORTS
    }
    return {**paths, "/_imports": {"post": describe_import()}}


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
