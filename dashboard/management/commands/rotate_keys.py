"""`manage.py rotate_keys`: the command of proxyapi, extended to webhook secrets."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.core.management.base import CommandError

from dashboard.alerts.delivery import webhook
from dashboard.models import AlertWebhook
from proxyapi.credentials import encryption
from proxyapi.management.commands import rotate_keys


class Command(rotate_keys.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        """Webhooks come first, so that success means that no value needs an old key. A webhook that
        fails does not stop the rotation of the tokens, whose key may have leaked."""
        if not options["dry_run"]:
            self.reencrypt_webhooks()
        remaining = self.webhooks_under_old_keys()
        if remaining and options["dry_run"]:
            self.stdout.write(f"{len(remaining)} webhooks need an old key.")
        super().handle(*args, **options)
        if remaining and not options["dry_run"]:
            names = ", ".join(str(pk) for pk in remaining[:5])
            raise CommandError(
                f"The secrets of {len(remaining)} webhooks could not be encrypted again: {names}"
            )

    def reencrypt_webhooks(self) -> None:
        for hook in list(AlertWebhook.objects.order_by("pk")):  # read all before writing
            try:
                webhook.reencrypt_webhook_secret(hook)
            except encryption.EncryptionError:
                continue  # `webhooks_under_old_keys` counts it

    def webhooks_under_old_keys(self) -> list[UUID]:
        current = encryption.load_key_ring().current_key_id
        secrets = AlertWebhook.objects.order_by("pk").values_list("pk", "ciphertext")
        return [
            pk
            for pk, blob in secrets
            if encryption.envelope_key_id_or_blank(bytes(blob)) != current
        ]
