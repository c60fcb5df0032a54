"""`manage.py rotate_keys`: encrypt all secrets again with the first key of ENCRYPTION_KEYS."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import Model

from proxyapi.credentials import encryption, key_rotation
from proxyapi.credentials.key_rotation import UnreadableSecret

MAX_NAMED = 5


class Command(BaseCommand):
    help = (
        "Encrypts all stored secrets again with the first key of ENCRYPTION_KEYS. It can be "
        "stopped and started again while the portal runs. When it ends without an error, the "
        "old keys can be removed from ENCRYPTION_KEYS."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="only count, change nothing")

    def handle(self, *_: Any, dry_run: bool, **__: Any) -> None:
        """A secret that no key decrypts does not stop the others, whose key may have leaked."""
        if dry_run:
            for model in key_rotation.sealed_models():
                count = key_rotation.rows_under_old_keys(model).count()
                self.stdout.write(f"{count} {model._meta.verbose_name_plural} need an old key.")
            return
        unreadable = [
            secret for model in key_rotation.sealed_models() for secret in self.rotate(model)
        ]
        if unreadable:
            names = ", ".join(secret.label for secret in unreadable[:MAX_NAMED])
            raise CommandError(
                f"{len(unreadable)} secrets could not be decrypted and were not changed: {names}"
            )
        if left := key_rotation.count_secrets_under_old_keys():
            raise CommandError(f"{left} secrets changed during the run. Run it again.")
        self.stdout.write("No secret needs an old key.")

    def rotate(self, model: type[Model]) -> list[UnreadableSecret]:
        """Encrypt the rows of the model again; return those that no key decrypts."""
        count, unreadable, is_last = 0, list[UnreadableSecret](), False
        while not is_last:
            skipped = [secret.id for secret in unreadable]
            batch = key_rotation.reencrypt_batch(skipped, model)
            count, is_last = count + batch.reencrypted, batch.is_last
            unreadable += batch.unreadable
        key_id = encryption.load_key_ring().current_key_id
        names = model._meta.verbose_name_plural
        self.stdout.write(f"{count} {names} encrypted again with {key_id!r}.")
        return unreadable
