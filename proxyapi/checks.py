"""System checks: a process with a wrong or missing key does not start at all; one with accounts of
another upstream says so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register
from django.core.checks import Warning as CheckWarning
from django.db import DatabaseError, connections
from django.db.models import Exists, Model, OuterRef

from proxyapi import failpoints, upstream_address
from proxyapi.credentials import encryption
from proxyapi.operations import OPERATIONS
from proxyapi.upstream.client import override_methods

STARTUP_TAG = "start"  # the tag of what has to hold in every process, however it is started


@register(STARTUP_TAG)
def check_encryption_keys(**_: Any) -> list[CheckMessage]:
    try:
        encryption.KeyRing.parse(settings.ENCRYPTION_KEYS)
    except encryption.EncryptionError as error:
        hint = "`manage.py generate_key` prints a new one; old ones stay behind it, after a comma."
        return [Error(str(error), hint=hint, id="proxyapi.E001")]
    return []


@register(STARTUP_TAG)
def check_method_overrides(**_: Any) -> list[CheckMessage]:
    try:
        override_methods(OPERATIONS, settings.VIDEO_API_METHODS)
    except ValueError as error:
        hint = "VIDEO_API_METHODS sets POST, PUT or PATCH where the API's description shows none."
        return [Error(str(error), hint=hint, id="proxyapi.E005")]
    return []


@register(STARTUP_TAG)
def check_failpoint_is_sandboxed(**_: Any) -> list[CheckMessage]:
    """A point that kills the process belongs to drills on the sandbox alone."""
    if not failpoints.ACTIVE_FAILPOINT:
        return []
    if failpoints.ACTIVE_FAILPOINT not in failpoints.FAILPOINTS:
        known = ", ".join(failpoints.FAILPOINTS)
        return [Error(f"REELROOM_FAILPOINT names none of {known}.", id="proxyapi.E004")]
    if settings.VIDEO_API_IS_SANDBOX:
        return []
    message = "REELROOM_FAILPOINT is set, and VIDEO_API_BASE_URL is not the sandbox."
    return [Error(message, hint="Unset REELROOM_FAILPOINT.", id="proxyapi.E003")]


@register(Tags.database, STARTUP_TAG)
def check_stored_key_ids(*, databases: Sequence[str] | None = None, **_: Any) -> list[CheckMessage]:
    """Every key that a sealed row names has to be in the ring, whichever app the row is of."""
    if not databases:
        return []
    try:
        ring = encryption.load_key_ring()
        found = [missing_keys_message(model, databases[0], ring) for model in encrypted_models()]
    except (encryption.EncryptionError, DatabaseError):
        return []  # E001 tells it, or the tables are not there yet
    finally:
        close_unusable_connection(databases[0])
    hint = "Put the old key back behind the new one."
    return [Error(message, hint=hint, id="proxyapi.E002") for message in found if message]


@register(Tags.database, STARTUP_TAG)
def check_account_upstreams(
    *, databases: Sequence[str] | None = None, **_: Any
) -> list[CheckMessage]:
    """Those of another one are paused (proxyapi/upstream_address.py), which an operator may not
    have meant."""
    # Celery imports this module before there are tables.
    from proxyapi.models import Account, Token

    if not databases:
        return []
    try:
        opened = Account.objects.using(databases[0]).exclude(
            upstream_address.current_upstream_filter()
        )
        opened = opened.filter(Exists(Token.objects.not_removed().filter(account=OuterRef("pk"))))
        found = list(opened.values_list("environment", flat=True))
    except DatabaseError:
        return []  # the tables are not there yet
    finally:
        close_unusable_connection(databases[0])
    if not found:
        return []
    addresses = ", ".join(sorted(set(found)))
    message = (
        f"{len(found)} accounts belong to another address of the service than "
        f"VIDEO_API_BASE_URL and are paused: {addresses}. Their tokens are not sent."
    )
    hint = "They resume when VIDEO_API_BASE_URL is that address again."
    return [CheckWarning(message, hint=hint, id="proxyapi.W001")]


def close_unusable_connection(database: str) -> None:
    connection = connections[database]
    if not connection.in_atomic_block:  # else it closes what a transaction still needs
        connection.close_if_unusable_or_obsolete()


def encrypted_models() -> Iterator[type[Model]]:
    """Yield the models with a `ciphertext` field, whose rows have an `encryption_context`."""
    return (model for model in apps.get_models() if hasattr(model, "encryption_context"))


def missing_keys_message(model: type[Model], database: str, ring: encryption.KeyRing) -> str:
    """What to say of rows whose key is not in the ring; nothing when each has its own."""
    blobs = model._default_manager.using(database).values_list("ciphertext", flat=True)
    names = filter(
        None, (encryption.envelope_key_id_or_blank(bytes(blob)) for blob in blobs.iterator())
    )
    lost = [name for name in names if name not in ring.keys]
    what = model._meta.verbose_name_plural
    said = (
        f"{len(lost)} {what} are sealed with keys that ENCRYPTION_KEYS does not hold: {set(lost)}"
    )
    return said if lost else ""
