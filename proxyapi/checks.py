"""System checks: a process with a wrong or missing key does not start; accounts of another upstream
are reported."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register
from django.core.checks import Warning as CheckWarning
from django.db import DatabaseError, connections
from django.db.models import BinaryField, Exists, Model, OuterRef
from django.db.models.functions import Substr

from proxyapi import failpoints, upstream_address
from proxyapi.credentials import encryption
from proxyapi.credentials.key_rotation import sealed_models
from proxyapi.operations import OPERATIONS
from proxyapi.upstream.client import override_methods

LONGEST_ENVELOPE_HEAD = 64  # bytes: head with the longest key id, nonce and tag
STARTUP_TAG = "start"  # checks that run in every process, however it is started


@register(STARTUP_TAG)
def check_encryption_keys(**_: Any) -> list[CheckMessage]:
    try:
        encryption.KeyRing.parse(settings.ENCRYPTION_KEYS)
    except encryption.EncryptionError as error:
        hint = (
            "`manage.py generate_key` prints a new key. Put it first, a comma, then the old keys."
        )
        return [Error(str(error), hint=hint, id="proxyapi.E001")]
    return []


@register(STARTUP_TAG)
def check_method_overrides(**_: Any) -> list[CheckMessage]:
    try:
        override_methods(OPERATIONS, settings.VIDEO_API_METHODS)
    except ValueError as error:
        hint = "VIDEO_API_METHODS sets POST, PUT or PATCH where the method is not documented."
        return [Error(str(error), hint=hint, id="proxyapi.E005")]
    return []


@register(STARTUP_TAG)
def check_failpoint_is_sandboxed(**_: Any) -> list[CheckMessage]:
    """A failpoint kills the process, so it is allowed only with the sandbox."""
    if not failpoints.ACTIVE_FAILPOINT:
        return []
    if failpoints.ACTIVE_FAILPOINT not in failpoints.FAILPOINTS:
        names = ", ".join(failpoints.FAILPOINTS)
        return [Error(f"REELROOM_FAILPOINT must be one of {names}.", id="proxyapi.E004")]
    if settings.VIDEO_API_IS_SANDBOX:
        return []
    message = "REELROOM_FAILPOINT is set, but VIDEO_API_BASE_URL is not the sandbox."
    return [Error(message, hint="Unset REELROOM_FAILPOINT.", id="proxyapi.E003")]


@register(Tags.database, STARTUP_TAG)
def check_stored_key_ids(*, databases: Sequence[str] | None = None, **_: Any) -> list[CheckMessage]:
    """Every key id in an encrypted row, of any app, has to be in the key ring."""
    if not databases:
        return []
    try:
        ring = encryption.load_key_ring()
        messages = [missing_keys_message(model, databases[0], ring) for model in sealed_models()]
    except (encryption.EncryptionError, DatabaseError):
        return []  # E001 reports it, or the tables do not exist yet
    finally:
        close_unusable_connection(databases[0])
    hint = "Add the old key to ENCRYPTION_KEYS again, after the new one."
    return [Error(message, hint=hint, id="proxyapi.E002") for message in messages if message]


@register(Tags.database, STARTUP_TAG)
def check_account_upstreams(
    *, databases: Sequence[str] | None = None, **_: Any
) -> list[CheckMessage]:
    """Warn about accounts of another upstream, which are paused (proxyapi/upstream_address.py): the
    operator may not have intended it."""
    # Imported here, because Celery imports this module before the models are loaded.
    from proxyapi.models import Account, Token

    if not databases:
        return []
    try:
        other_accounts = Account.objects.using(databases[0]).exclude(
            upstream_address.current_upstream_filter()
        )
        other_accounts = other_accounts.filter(
            Exists(Token.objects.not_removed().filter(account=OuterRef("pk")))
        )
        environments = list(other_accounts.values_list("environment", flat=True))
    except DatabaseError:
        return []  # the tables do not exist yet
    finally:
        close_unusable_connection(databases[0])
    if not environments:
        return []
    addresses = ", ".join(sorted(set(environments)))
    message = (
        f"{len(environments)} accounts are paused because they belong to another address than "
        f"VIDEO_API_BASE_URL: {addresses}. Their tokens are not sent."
    )
    hint = "They resume when VIDEO_API_BASE_URL is set to that address again."
    return [CheckWarning(message, hint=hint, id="proxyapi.W001")]


def close_unusable_connection(database: str) -> None:
    connection = connections[database]
    if not connection.in_atomic_block:  # a transaction still needs its connection
        connection.close_if_unusable_or_obsolete()


def stored_key_ids(model: type[Model], database: str) -> Iterator[str]:
    """Yield the key id of each encrypted row; a row that was tampered with has none.

    The start of an envelope names its key; the whole may be a file of megabytes. Of an empty blob
    SQLite returns NULL.
    """
    heads = Substr("ciphertext", 1, LONGEST_ENVELOPE_HEAD, output_field=BinaryField())
    blobs = model._default_manager.using(database).values_list(heads, flat=True)
    names = (encryption.envelope_key_id_or_blank(bytes(blob or b"")) for blob in blobs.iterator())
    return filter(None, names)


def missing_keys_message(model: type[Model], database: str, ring: encryption.KeyRing) -> str:
    """The message for rows whose key is not in the key ring; empty if there are none."""
    missing = [name for name in stored_key_ids(model, database) if name not in ring.keys]
    plural = model._meta.verbose_name_plural
    message = (
        f"{len(missing)} {plural} need keys that are missing in ENCRYPTION_KEYS: {set(missing)}"
    )
    return message if missing else ""
