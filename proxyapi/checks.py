"""System checks: a process with a wrong or missing key does not start at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register
from django.db import DatabaseError, connections

from proxyapi import failpoints, seal


@register()
def sealing_keys_can_be_read(**_: Any) -> list[CheckMessage]:
    try:
        seal.KeyRing.parse(settings.SEALING_KEYS)
    except seal.SealError as error:
        hint = "`manage.py generate_key` prints a new one; old ones stay behind it, after a comma."
        return [Error(str(error), hint=hint, id="proxyapi.E001")]
    return []


@register()
def no_failpoint_where_it_costs(**_: Any) -> list[CheckMessage]:
    """A point that kills the process belongs to drills on the sandbox alone."""
    if not failpoints.NAMED:
        return []
    if failpoints.NAMED not in failpoints.POINTS:
        known = ", ".join(failpoints.POINTS)
        return [Error(f"REELROOM_FAILPOINT names none of {known}.", id="proxyapi.E004")]
    if settings.VIDEO_API_IS_SANDBOX:
        return []
    message = "REELROOM_FAILPOINT is set, and VIDEO_API_BASE_URL is not the sandbox."
    return [Error(message, hint="Unset REELROOM_FAILPOINT.", id="proxyapi.E003")]


@register(Tags.database)
def sealed_tokens_have_their_key(
    *, databases: Sequence[str] | None = None, **_: Any
) -> list[CheckMessage]:
    """Every key that a stored token names has to be in the ring."""
    from proxyapi.models import Token

    if not databases:
        return []
    try:
        ring = seal.ring()
        blobs = Token.objects.using(databases[0]).standing().values_list("sealed", flat=True)
        lost = [
            name for name in (seal.key_id(bytes(blob)) for blob in blobs) if name not in ring.keys
        ]
    except (seal.SealError, DatabaseError):
        return []  # E001 tells it, or the tables are not there yet
    finally:
        connection = connections[databases[0]]
        if not connection.in_atomic_block:  # else it closes what a transaction still needs
            connection.close_if_unusable_or_obsolete()
    if not lost:
        return []
    message = (
        f"{len(lost)} tokens are sealed with keys that SEALING_KEYS does not hold: {set(lost)}"
    )
    return [Error(message, hint="Put the old key back behind the new one.", id="proxyapi.E002")]
