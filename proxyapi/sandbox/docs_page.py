"""GET /docs: every call on one page, made from the same description as /openapi.json.

It needs no script and asks nobody else for anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

router = APIRouter()

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8881; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem }
h2 { margin: 2.5rem 0 .5rem; border-bottom: 1px solid var(--line) }
details { border-bottom: 1px solid var(--line) } summary { padding: .45rem .2rem; cursor: pointer }
summary:hover { background: var(--soft) } b { display: inline-block; width: 4.2rem }
code, pre, b { font-family: ui-monospace, monospace; font-size: .9rem }
td, th { text-align: left; vertical-align: top; padding: .15rem 1.2rem .15rem 0 }
div { padding: .2rem 0 1rem 4.5rem } nav a { margin-right: 1rem }
"""


@router.get("/docs", include_in_schema=False)
async def show_docs(request: Request) -> HTMLResponse:
    page = "".join(_page(request.app.openapi()))
    headers = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'"}
    return HTMLResponse(page, headers=headers)


def _page(described: dict[str, Any]) -> Iterator[str]:
    title = escape(described["info"]["title"])
    yield f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title>"
    yield "<meta name=viewport content='width=device-width'>"
    yield f"<style>{_STYLE}</style><h1>{title}</h1>"
    yield "<p>Machine-readable: <a href=openapi.json>openapi.json</a></p>"
    groups = _groups(described)
    links = (f"<a href='#{_anchor(tag)}'>{escape(tag)}</a>" for tag in groups)
    yield f"<nav>{''.join(links)}</nav>"
    schemas = described.get("components", {}).get("schemas", {})
    for tag, calls in groups.items():
        yield f"<h2 id='{_anchor(tag)}'>{escape(tag)}</h2>"
        for method, path, call in calls:
            yield f"<details><summary><b>{method.upper()}</b><code>{escape(path)}</code></summary>"
            yield f"<div>{''.join(_call(call, schemas))}</div></details>"


def _groups(described: dict[str, Any]) -> dict[str, list[tuple[str, str, dict[str, Any]]]]:
    groups: dict[str, list[tuple[str, str, dict[str, Any]]]] = {}
    for path, methods in described["paths"].items():
        for method, call in methods.items():
            tag = (call.get("tags") or ["Other"])[0]
            groups.setdefault(tag, []).append((method, path, call))
    return groups


def _call(call: dict[str, Any], schemas: dict[str, Any]) -> Iterator[str]:
    if text := call.get("description"):
        yield f"<p>{escape(text)}</p>"
    rows = [
        (f"{it['name']} ({it['in']})", _kind(it["schema"]), _note({**it["schema"], **it}))
        for it in call.get("parameters", [])
    ]
    for kind, body in call.get("requestBody", {}).get("content", {}).items():
        fields = _fields(body["schema"], schemas)
        rows += [(f"{name} ({kind})", type_, note) for name, type_, note in fields]
    if rows:
        cells = ("".join(f"<td>{escape(str(it))}" for it in row) for row in rows)
        yield f"<table><tr><th>field<th>type<th>{''.join(f'<tr>{row}' for row in cells)}</table>"
    yield "<p>Answers: " + ", ".join(map(escape, call["responses"])) + "</p>"


def _fields(schema: dict[str, Any], schemas: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    whole = next((it for it in schema.get("anyOf", []) if "$ref" in it), schema)
    if "$ref" in whole:
        whole = schemas.get(whole["$ref"].rpartition("/")[2], {})
    required = whole.get("required", [])
    for name, field in whole.get("properties", {}).items():
        note = _note(field)
        yield name, _kind(field), "required. " + note if name in required else note


def _kind(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if "const" in schema:
        return str(schema["const"])
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if "anyOf" in schema:
        return " or ".join(_kind(it) for it in schema["anyOf"])
    kind = str(schema.get("type", "any"))
    return f"{kind} of {_kind(schema['items'])}" if "items" in schema else kind


def _note(schema: dict[str, Any]) -> str:
    limits = ("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems")
    said = [str(schema["description"])] if schema.get("description") else []
    return " ".join([*said, *(f"{name} {schema[name]}" for name in limits if name in schema)])


def _anchor(tag: str) -> str:
    return escape(tag.lower().replace(" ", "-"), quote=True)
