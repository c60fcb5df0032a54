"""`manage.py rotate_keys`: encrypt tokens and files again with the first key of ENCRYPTION_KEYS."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from proxyapi import stored_files
from proxyapi.credentials import encryption, token_vault
from proxyapi.models import Token

BATCH_SIZE = 500


class Command(BaseCommand):
    help = (
        "Encrypts all stored secrets again with the first key of ENCRYPTION_KEYS. It can be "
        "stopped and started again while the portal runs. When it ends without an error, the "
        "old keys can be removed from ENCRYPTION_KEYS."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="only count, change nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        old = sum(1 for _ in tokens_under_old_keys())
        if options["dry_run"]:
            self.stdout.write(f"{old} tokens need an old key.")
            return
        broken = [token for token in tokens_under_old_keys() if not self.try_reencrypt(token)]
        left = sum(1 for _ in tokens_under_old_keys())
        self.stdout.write(
            f"{old - left} tokens encrypted again with "
            f"{encryption.load_key_ring().current_key_id!r}."
        )
        if broken:
            names = ", ".join(str(token.pk) for token in broken[:5])
            raise CommandError(
                f"{len(broken)} tokens could not be decrypted and were not changed: {names}"
            )
        if left:
            raise CommandError(f"{left} tokens changed during the run. Run it again.")
        if files := stored_files.reencrypt_stored_files():
            raise CommandError(f"{files} uploaded files could not be decrypted and wait unchanged.")
        self.stdout.write("No token and no uploaded file needs an old key.")

    def try_reencrypt(self, token: Token) -> bool:
        """Return False only for a row that does not decrypt; a row that changed meanwhile is read
        again."""
        try:
            token_vault.reencrypt_token(token)
        except encryption.EncryptionError:
            return False
        return True


def tokens_under_old_keys() -> Iterator[Token]:
    """Yield the rows batch by batch, each read to its end before the caller writes.

    On SQLite a read that is still open while its connection writes fails as soon as another
    connection has written, and no timeout helps.
    """
    current, last = encryption.load_key_ring().current_key_id, UUID(int=0)
    while batch := list(
        Token.objects.not_removed().filter(pk__gt=last).order_by("pk")[:BATCH_SIZE]
    ):
        yield from (
            token
            for token in batch
            if encryption.envelope_key_id_or_blank(bytes(token.ciphertext)) != current
        )
        last = batch[-1].pk
