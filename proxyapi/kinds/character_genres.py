"""Read the genres that characters are previewed in; free, in a worker. They are not the genres of
faceless videos (pitfall 117).

The row is the request (rule 7): it is due until the service has answered or refused.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone

from proxyapi import calls
from proxyapi.credentials import token_vault
from proxyapi.events import EventType, publish_event
from proxyapi.models import Account, CharacterGenres
from proxyapi.operations import CHARACTER_GENRES_OPERATION
from proxyapi.rate_limiter import Priority, RateLimitExhausted
from proxyapi.upstream import errors, response_parsing

MAX_GENRES_AGE = timedelta(days=1)
RETRY_AFTER = timedelta(seconds=20)  # after an answer that did not come
MAX_GENRES = 200
PERMIT_TIMEOUT_S = 2.0  # seconds to wait for a permit
TOKENLESS = "No working token of this account is left, so its genres cannot be read."
NONE_LISTED = "The service lists no genres for characters."


def request_genres(account: Account) -> CharacterGenres:
    """Return the genres as last read; if they are missing or old, have them read again."""
    now = timezone.now()
    row, _ = CharacterGenres.objects.get_or_create(account=account, defaults={"due_at": now})
    is_old = row.read_at is None or row.read_at < now - MAX_GENRES_AGE
    is_tried = row.tried_at is not None and now - RETRY_AFTER < row.tried_at <= now
    if is_old and row.due_at is None and not is_tried:
        CharacterGenres.objects.filter(pk=row.pk, due_at=None).update(due_at=now)
        row.due_at = now
    return row


def read_genres(account_id: UUID) -> None:
    """Read the genres once and store them, or why there are none."""
    row = CharacterGenres.objects.select_related("account").get(pk=account_id)
    now = timezone.now()
    changes: dict[str, Any] = {"due_at": None, "tried_at": now, "message": ""}
    usable = row.account.tokens.usable().select_related("account").order_by("state_since")
    token = token_vault.first_decryptable(usable)
    try:
        if token is None:
            changes["message"] = TOKENLESS
        else:
            reply = calls.call_upstream(
                token, CHARACTER_GENRES_OPERATION, Priority.PERSON, patience=PERMIT_TIMEOUT_S
            )
            genres = parse_genres(reply.data)
            changes |= {"genres": genres, "read_at": now} if genres else {"message": NONE_LISTED}
    except RateLimitExhausted as exhausted:
        changes = {"due_at": now + timedelta(seconds=max(1.0, exhausted.wait))}
    except errors.UpstreamError as error:
        changes["message"] = error.user_message
    CharacterGenres.objects.filter(pk=row.pk).update(**changes)
    publish_event(row.account.tenant_id, EventType.ACCOUNT, row.pk)


def parse_genres(data: Any) -> list[dict[str, Any]]:
    """Id and name of each genre, in the service's order."""
    rows = data
    if isinstance(rows, dict):  # the spec does not show the body
        rows = next((value for value in rows.values() if isinstance(value, list)), None)
    named = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return [
        {"id": row["id"], "name": str(row.get("name") or row.get("slug") or row["id"])[:100]}
        for row in named[:MAX_GENRES]
        if response_parsing.is_resource_id(row.get("id"))
    ]
