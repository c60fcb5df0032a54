"""`manage.py rotate_keys`: as proxyapi's, for the secrets of the webhooks as well."""

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
        """The webhooks come first, so that no error means that nothing needs an old key. One that
        stays as it is does not keep the tokens under a key that may have leaked."""
        if not options["dry_run"]:
            self.reencrypt_webhooks()
        left = self.webhooks_under_old_keys()
        if left and options["dry_run"]:
            self.stdout.write(f"{len(left)} webhooks need an old key.")
        super().handle(*args, **options)
        if left and not options["dry_run"]:
            names = ", ".join(str(pk) for pk in left[:5])
            raise CommandError(
                f"The secrets of {len(left)} webhooks could not be sealed again: {names}"
            )

    def reencrypt_webhooks(self) -> None:
        for hook in list(AlertWebhook.objects.order_by("pk")):  # read to its end before writing
            try:
                webhook.reencrypt_webhook_secret(hook)
            except encryption.EncryptionError:
                continue  # it is counted below

    def webhooks_under_old_keys(self) -> list[UUID]:
        current = encryption.load_key_ring().current_key_id
        sealed = AlertWebhook.objects.order_by("pk").values_list("pk", "ciphertext")
        return [
            pk for pk, blob in sealed if encryption.envelope_key_id_or_blank(bytes(blob)) != current
        ]
