"""What an entry concerns, in words: rows name their target by its id.

Names are read now, so a renamed thing has its present name. What no longer exists keeps the words
that the entry itself holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from django.db.models import CharField, QuerySet, Value
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Concat

from dashboard.audit.queries.field_changes import ID_FIELDS, Names
from dashboard.models import AlertKind, AuditAction, AuditEvent, Preset
from dashboard.shared.feature_labels import feature_label
from dashboard.shared.formatting import credits
from dashboard.shared.people import TeamPerson
from dashboard.shared.query_params import parse_uuid
from proxyapi.models import Account, ApiKey, Charge, Job, Tenant, Token

# Where an entry has words for its target itself.
NAMING_FIELDS = ("name", "title", "host", "member", "owner")
SIGN_IN_PARTS: dict[str, tuple[str, ...]] = {
    AuditAction.SIGN_IN: ("method",),
    AuditAction.SIGN_IN_REFUSE: ("reason", "times"),
    AuditAction.CONFIRMATION_REFUSE: ("reason",),
    AuditAction.PASSWORD_CHANGE: ("method",),
    AuditAction.PASSWORD_RESET: ("method",),
    AuditAction.ACCESS_REFUSE: ("request",),
}


def load_thing_names(
    events: Sequence[AuditEvent], tenant: Tenant, people: Sequence[TeamPerson]
) -> Names:
    """Return names by the id that entries name; one query, none without ids."""
    texts = {text for event in events for text in (event.target, *named_ids_of(event))}
    ids = [pk for pk in map(parse_uuid, texts) if pk is not None]
    names = {str(person.id): person.name for person in people}
    if not ids:
        return names
    rows: QuerySet[Job, tuple[UUID, str]] = query_names(
        Job.objects.filter(tenant=tenant), "title", ids
    )
    charges = Charge.objects.filter(tenant=tenant)
    searches = charges.annotate(keyword=KeyTextTransform("keyword", "body"))
    others = (
        query_names(charges.filter(job__isnull=False), "job__title", ids),
        query_names(searches.filter(job=None, keyword__isnull=False), "keyword", ids),
        query_names(Account.objects.filter(tenant=tenant), "name", ids),
        query_names(Preset.objects.filter(team__tenant=tenant), "name", ids),
        query_names(ApiKey.objects.filter(tenant=tenant), "name", ids),
        query_names(Token.objects.filter(tenant=tenant), "last_four", ids, prefix="…"),
    )
    return names | {str(pk): text for pk, text in rows.union(*others, all=True) if text}


def query_names(rows: QuerySet, field: str, ids: Sequence[UUID], prefix: str = "") -> QuerySet:  # type: ignore[type-arg]  # of several models
    name = Concat(Value(prefix), Cast(field, CharField()), output_field=CharField())
    return rows.filter(pk__in=ids).order_by().values_list("pk", name)


def named_ids_of(event: AuditEvent) -> list[str]:
    """The videos and charges that an entry about something else names."""
    sides = [side for side in (event.after, event.details) if isinstance(side, dict)]
    found = [side.get(name) for name in ID_FIELDS for side in sides]
    return [text for text in found if isinstance(text, str) and text]


def thing_text(event: AuditEvent, names: Names) -> str:
    """Return what the entry concerns, such as "Render, “Whales in fog”"."""
    return ", ".join(dict.fromkeys(filter(None, thing_parts(event, names))))


def thing_parts(event: AuditEvent, names: Names) -> list[str]:
    details, after, before = event.details or {}, event.after or {}, event.before or {}
    operation = after.get("operation") or details.get("operation")
    parts = [feature_label(str(operation)) if operation else ""]
    if event.action.startswith("alert_rule."):
        parts.append(alert_kind_label(str(details.get("kind", ""))))
    if event.action.startswith("budget."):
        parts += [budget_subject(details), str(details.get("period", ""))]
    if event.action in SIGN_IN_PARTS:
        parts += [str(details.get(name, "")) for name in SIGN_IN_PARTS[event.action]]
    if event.action.startswith("approval_request."):
        hold = after.get("hold") or details.get("hold")
        parts += [str(details.get("member", "")), f"{credits(hold)} cr" if hold else ""]
    ids = (event.target, *named_ids_of(event))
    if name := next((names[id] for id in ids if id in names), ""):
        parts.append(name if event.action.startswith(("member.", "token.")) else f"“{name}”")
    if not any(parts):
        parts += own_words(before, after, details)
    return parts


def budget_subject(details: Mapping[str, object]) -> str:
    if label := details.get("label"):
        return f"the label {label}"
    return str(details.get("member") or "the whole team")


def own_words(*sides: Mapping[str, object]) -> list[str]:
    """The first words that the entry itself has for its target."""
    for name in NAMING_FIELDS:
        for side in sides:
            if isinstance(value := side.get(name), str) and value:
                return [value]
    return []


def alert_kind_label(kind: str) -> str:
    return str(AlertKind(kind).label) if kind in AlertKind.values else ""
