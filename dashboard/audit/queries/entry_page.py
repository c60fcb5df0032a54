"""One entry: its facts, all fields before and after, and its place in the chain."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dashboard.audit.queries.action_words import action_title
from dashboard.audit.queries.chain_state import entry_state_text, load_chain_state
from dashboard.audit.queries.entry_rows import source_text
from dashboard.audit.queries.export import entry_json
from dashboard.audit.queries.field_changes import (
    SECRET_RE,
    Names,
    field_label,
    list_field_changes,
    value_text,
)
from dashboard.audit.queries.things import load_thing_names, thing_text
from dashboard.models import AuditEvent, Membership
from dashboard.shared.access import audit_entries
from dashboard.shared.people import load_team_people

# Ids and what the facts above them say already.
HIDDEN_DETAILS = frozenset({"job", "charge", "charges", "change", "account", "label", "user_agent"})


def load_entry_page(reader: Membership, event: AuditEvent) -> dict[str, Any]:
    """Seven queries. `newer` and `older` are None at the ends of what the reader may see."""
    visible = audit_entries(reader)
    newer = visible.filter(position__gt=event.position).order_by("position").first()
    older = visible.filter(position__lt=event.position).order_by("-position").first()
    people = load_team_people(reader.team)
    names = load_thing_names([event], reader.team.tenant, people)
    chain_glyph, chain_text = entry_state_text(event, load_chain_state(reader.team_id))
    return {
        "event": event,
        "title": action_title(event.action),
        "facts": list(iter_entry_facts(event, names)),
        "changes": list_field_changes(event, names),
        "chain_glyph": chain_glyph,
        "chain_text": chain_text,
        "json": entry_json(event),
        "newer": newer,
        "older": older,
    }


def iter_entry_facts(event: AuditEvent, names: Names) -> Iterator[tuple[str, str]]:
    if thing := thing_text(event, names):
        yield "Concerns", thing
    place = f"{source_text(event)}, {event.client_ip}" if event.client_ip else source_text(event)
    yield "From", place
    details = event.details or {}
    if details.get("user_agent"):
        yield "Browser", str(details["user_agent"])
    for name, value in details.items():
        if name not in HIDDEN_DETAILS and not SECRET_RE.search(name):
            yield field_label(name), value_text(name, value, names)
    yield "Action", event.action
