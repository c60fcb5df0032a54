"""Encrypt every stored secret again with the current key, while everything works.

A secret is a row of a model with the field `ciphertext` and the method `encryption_context`: that
is the whole registry, and the startup check reads it too. `sealed_rows` of a model may leave out
rows that hold none; `SEALED_ROWS_READ_AT_ONCE` limits how many are in memory. Which rows are left
is read from their envelopes, so a rotation may end at any point and go on later.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.apps import apps
from django.db.models import BinaryField, Model, Q, QuerySet
from django.db.models.functions import Substr

from proxyapi.credentials import encryption

BATCH_ROWS = 200
ROWS_READ_AT_ONCE = 200


class UnreadableSecret(NamedTuple):
    """A row whose value no key decrypts: its primary key, and its name for people."""

    id: str
    label: str


@dataclass(frozen=True, slots=True)
class RotationBatch:
    """`is_last`: no row is left but the unreadable ones."""

    reencrypted: int
    unreadable: tuple[UnreadableSecret, ...]
    is_last: bool


def sealed_models() -> Iterator[type[Model]]:
    """Yield the models whose rows have an encrypted value."""
    return (model for model in apps.get_models() if hasattr(model, "encryption_context"))


def sealed_rows(model: type[Model]) -> QuerySet[Any]:
    """Return the rows of the model that hold a secret."""
    if hasattr(model, "sealed_rows"):
        rows: QuerySet[Any] = model.sealed_rows()
        return rows
    return model._default_manager.exclude(ciphertext=b"")


def rows_under_old_keys(model: type[Model]) -> QuerySet[Any]:
    """Return the rows whose envelope does not begin like those of the current key. The start is
    compared in the database: the whole may be a file of megabytes."""
    header = encryption.envelope_header(encryption.load_key_ring().current_key_id)
    start = Substr("ciphertext", 1, len(header), output_field=BinaryField())
    # Of an empty value SQLite returns NULL.
    is_old = ~Q(envelope_start=header) | Q(envelope_start__isnull=True)
    rows: QuerySet[Any] = sealed_rows(model).annotate(envelope_start=start).filter(is_old)
    return rows.order_by("pk")


def count_secrets_under_old_keys() -> int:
    return sum(rows_under_old_keys(model).count() for model in sealed_models())


def reencrypt_batch(
    skipped: Collection[str] = (), model: type[Model] | None = None, rows: int = BATCH_ROWS
) -> RotationBatch:
    """Encrypt the next rows again, of one model or of all; `skipped` are primary keys that were
    unreadable before."""
    done, unreadable, left = 0, list[UnreadableSecret](), rows
    for sealed in [model] if model else sealed_models():
        old = rows_under_old_keys(sealed).exclude(pk__in=skipped)
        for row in read_rows(sealed, list(old.values_list("pk", flat=True)[:left])):
            left -= 1
            try:
                done += reencrypt_row(row)
            except encryption.EncryptionError:
                unreadable.append(UnreadableSecret(str(row.pk), secret_label(row)))
        if not left:
            break
    return RotationBatch(done, tuple(unreadable), is_last=left > 0)


def read_rows(model: type[Model], pks: list[object]) -> Iterator[Any]:
    """Yield the rows, each read to its end before the caller writes.

    On SQLite a read that is still open while its connection writes fails as soon as another
    connection has written, and no timeout helps.
    """
    at_once = getattr(model, "SEALED_ROWS_READ_AT_ONCE", ROWS_READ_AT_ONCE)
    for start in range(0, len(pks), at_once):
        yield from list(sealed_rows(model).filter(pk__in=pks[start : start + at_once]))


def reencrypt_row(row: Any) -> bool:
    """Encrypt the value again with the current key; False if the row changed meanwhile.

    Each row is one conditional update, and one that is under an old key decrypts with the ring
    before and after. No variable holds the plain value (rule 1).
    """
    old, ring, context = bytes(row.ciphertext), encryption.load_key_ring(), row.encryption_context()
    new = encryption.encrypt(encryption.decrypt(old, context, ring), context, ring)
    rows = type(row)._default_manager.filter(pk=row.pk, ciphertext=old)
    return bool(rows.update(ciphertext=new))


def secret_label(row: Any) -> str:
    """Name the row for people, without anything of its value."""
    return str(row) if str(row.pk) in str(row) else f"{row}, {row.pk}"
