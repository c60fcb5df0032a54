"""One entry: its facts, all fields before and after, and its place in the chain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.urls import reverse
from django.utils import timezone

from dashboard.audit.queries.action_words import action_title
from dashboard.audit.queries.chain_state import entry_state_text, load_chain_state
from dashboard.audit.queries.entry_rows import source_text
from dashboard.audit.queries.export import entry_json
from dashboard.audit.queries.field_changes import (
    SECRET_RE,
    FieldChange,
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


@dataclass(frozen=True, slots=True)
class EntryFactPair:
    label: str
    value: str


@dataclass(frozen=True, slots=True)
class HashLine:
    position: str
    row_hash: str
    is_this: bool


@dataclass(frozen=True, slots=True)
class AuditEntryPage:
    """`newer_url` and `older_url` are empty at the ends of what the reader may see."""

    title: str
    note: str
    facts: tuple[EntryFactPair, ...]
    changes: tuple[FieldChange, ...]
    chain_glyph: str
    chain_text: str
    hashes: tuple[HashLine, ...]
    json: str
    newer_url: str
    older_url: str


def build_entry_page(reader: Membership, event: AuditEvent) -> AuditEntryPage:
    """Seven queries."""
    visible = audit_entries(reader)
    newer = visible.filter(position__gt=event.position).order_by("position").first()
    older = visible.filter(position__lt=event.position).order_by("-position").first()
    people = load_team_people(reader.team)
    names = load_thing_names([event], reader.team.tenant, people)
    chain_glyph, chain_text = entry_state_text(event, load_chain_state(reader.team_id))
    local = timezone.localtime(event.happened_at)
    return AuditEntryPage(
        title=action_title(event.action),
        note=f"Entry {event.position:,}, {local:%a} {local.day} {local:%b %Y, %H:%M:%S}, by "
        f"{event.actor_name}",
        facts=tuple(iter_entry_facts(event, names)),
        changes=list_field_changes(event, names),
        chain_glyph=chain_glyph,
        chain_text=chain_text,
        hashes=tuple(iter_hash_lines(event)),
        json=entry_json(event),
        newer_url=reverse("audit-entry", args=[newer.position]) if newer else "",
        older_url=reverse("audit-entry", args=[older.position]) if older else "",
    )


def iter_entry_facts(event: AuditEvent, names: Names) -> Iterator[EntryFactPair]:
    if thing := thing_text(event, names):
        yield EntryFactPair("Concerns", thing)
    place = f"{source_text(event)}, {event.client_ip}" if event.client_ip else source_text(event)
    yield EntryFactPair("From", place)
    details = event.details or {}
    if details.get("user_agent"):
        yield EntryFactPair("Browser", str(details["user_agent"]))
    for name, value in details.items():
        if name not in HIDDEN_DETAILS and not SECRET_RE.search(name):
            yield EntryFactPair(field_label(name), value_text(name, value, names))
    yield EntryFactPair("Action", event.action)


def iter_hash_lines(event: AuditEvent) -> Iterator[HashLine]:
    if event.previous_hash:
        yield HashLine(f"{event.position - 1:,}", event.previous_hash, is_this=False)
    yield HashLine(f"{event.position:,}", event.row_hash, is_this=True)
