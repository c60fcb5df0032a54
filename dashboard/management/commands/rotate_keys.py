"""`manage.py rotate_keys`: the command of proxyapi, extended to the secrets of webhooks,
second factors and single sign-on."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID

from django.core.management.base import CommandError

from dashboard.models import AlertWebhook, SecondFactorSecret, SingleSignOnSecret
from proxyapi.credentials import encryption
from proxyapi.management.commands import rotate_keys

EncryptedRow = AlertWebhook | SecondFactorSecret | SingleSignOnSecret
EncryptedModel = type[AlertWebhook] | type[SecondFactorSecret] | type[SingleSignOnSecret]
ENCRYPTED_MODELS: dict[EncryptedModel, str] = {
    AlertWebhook: "webhooks",
    SecondFactorSecret: "second factors",
    SingleSignOnSecret: "single sign-on settings",
}


class Command(rotate_keys.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        """These secrets come first, so that success means that no value needs an old key. One that
        fails does not stop the rotation of the tokens, whose key may have leaked."""
        failures = []
        for model, noun in ENCRYPTED_MODELS.items():
            if not options["dry_run"]:
                reencrypt_rows(model)
            remaining = rows_under_old_keys(model)
            if remaining and options["dry_run"]:
                self.stdout.write(f"{len(remaining)} {noun} need an old key.")
            elif remaining:
                names = ", ".join(str(pk) for pk in remaining[:5])
                failures.append(
                    f"The secrets of {len(remaining)} {noun} could not be encrypted again: {names}"
                )
        super().handle(*args, **options)
        if failures:
            raise CommandError("\n".join(failures))


def reencrypt_rows(model: EncryptedModel) -> None:
    rows = list(model._default_manager.order_by("pk"))  # read all before writing
    for row in cast(list[EncryptedRow], rows):
        try:
            reencrypt_row(row)
        except encryption.EncryptionError:
            continue  # `rows_under_old_keys` counts it


def reencrypt_row(row: EncryptedRow) -> bool:
    """Encrypt the secret with the current key; False if it already was, or if it changed
    meanwhile."""
    old_ciphertext, ring = bytes(row.ciphertext), encryption.load_key_ring()
    if encryption.envelope_key_id(old_ciphertext) == ring.current_key_id:
        return False
    context = row.encryption_context()
    plain = encryption.decrypt(old_ciphertext, context, ring)
    unchanged = type(row).objects.filter(pk=row.pk, ciphertext=old_ciphertext)
    return bool(unchanged.update(ciphertext=encryption.encrypt(plain, context, ring)))


def rows_under_old_keys(model: EncryptedModel) -> list[UUID]:
    current = encryption.load_key_ring().current_key_id
    secrets = model.objects.order_by("pk").values_list("pk", "ciphertext")
    return [
        pk for pk, blob in secrets if encryption.envelope_key_id_or_blank(bytes(blob)) != current
    ]
