"""`manage.py rotate_keys`: the command of proxyapi, extended to other secrets of teams."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError
from django.db.models import Model

from dashboard.alerts.delivery.webhook import reencrypt_webhook_secret
from dashboard.models import AlertWebhook, SingleSignOnSecret
from dashboard.shared.openid.client_secret import reencrypt_client_secret
from proxyapi.credentials import encryption
from proxyapi.management.commands import rotate_keys

SECRET_HOLDERS: tuple[tuple[type[Model], str, Callable[[Any], bool]], ...] = (
    (AlertWebhook, "webhooks", reencrypt_webhook_secret),
    (SingleSignOnSecret, "single sign-on settings", reencrypt_client_secret),
)


class Command(rotate_keys.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        """These secrets come first, so that success means that no value needs an old key. One that
        fails does not stop the rotation of the tokens, whose key may have leaked."""
        if not options["dry_run"]:
            self.reencrypt_secrets()
        remaining = [(words, keys) for words, keys in secrets_under_old_keys() if keys]
        if options["dry_run"]:
            for words, keys in remaining:
                self.stdout.write(f"{len(keys)} {words} need an old key.")
        super().handle(*args, **options)
        if remaining and not options["dry_run"]:
            raise CommandError("\n".join(failure_text(*row) for row in remaining))

    def reencrypt_secrets(self) -> None:
        for model, _, reencrypt in SECRET_HOLDERS:
            for row in list(model._default_manager.order_by("pk")):  # read all before writing
                try:
                    reencrypt(row)
                except encryption.EncryptionError:
                    continue  # `secrets_under_old_keys` counts it


def failure_text(words: str, keys: list[UUID]) -> str:
    names = ", ".join(str(pk) for pk in keys[:5])
    return f"The secrets of {len(keys)} {words} could not be encrypted again: {names}"


def secrets_under_old_keys() -> Iterator[tuple[str, list[UUID]]]:
    """Yield the words for each kind of row, and the keys of those that an old key encrypted."""
    current = encryption.load_key_ring().current_key_id
    for model, words, _ in SECRET_HOLDERS:
        rows = model._default_manager.order_by("pk").values_list("pk", "ciphertext")
        yield (
            words,
            [
                pk
                for pk, blob in rows
                if encryption.envelope_key_id_or_blank(bytes(blob)) != current
            ],
        )
