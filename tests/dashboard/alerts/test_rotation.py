"""The sealing key is rotated for the webhooks' secrets, too."""

from __future__ import annotations

from io import StringIO

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.utils import decrypt
from django.apps import apps
from django.core.checks import run_checks
from django.core.management import CommandError, call_command

from dashboard.models import AlertWebhook
from proxyapi.credentials import encryption, token_vault
from proxyapi.credentials.key_rotation import sealed_models
from proxyapi.upstream.secret import Secret
from tests.passkeys import store_second_factors

pytestmark = pytest.mark.postgresql

OLD, NEW = (
    f"old:{encryption.generate_encryption_key()}",
    f"new:{encryption.generate_encryption_key()}",
)


@pytest.fixture(autouse=True)
def _old(settings):
    settings.ENCRYPTION_KEYS = OLD


def rotate(*options):
    out = StringIO()
    call_command("rotate_keys", *options, stdout=out)
    return out.getvalue()


def test_a_webhooks_secret_is_sealed_with_the_first_key_and_opens_as_before(
    team_webhook, secret, settings
):
    settings.ENCRYPTION_KEYS = f"{NEW},{OLD}"
    assert "1 alert webhooks need an old key." in rotate("--dry-run")
    rotate()
    settings.ENCRYPTION_KEYS = NEW
    row = AlertWebhook.objects.get()
    assert (
        encryption.decrypt(
            bytes(row.ciphertext), row.encryption_context(), encryption.load_key_ring()
        )
        == secret.encode()
    )


def test_one_that_does_not_open_keeps_the_old_key_needed(team_webhook, settings):
    settings.ENCRYPTION_KEYS = NEW
    with pytest.raises(CommandError, match="1 secrets could not be decrypted"):
        rotate()


def test_one_that_does_not_open_is_named_and_keeps_no_token_from_the_new_key(
    team_webhook, token, settings
):
    """The old one may have leaked: the tokens must not stay under it."""
    token_vault.encrypt_token_into(token, Secret("sbx_" + "a" * 24))
    token.save()
    *intact, last = bytes(team_webhook.ciphertext)
    AlertWebhook.objects.update(ciphertext=bytes([*intact, last ^ 1]))
    settings.ENCRYPTION_KEYS = f"{NEW},{OLD}"
    with pytest.raises(CommandError, match=f"were not changed: webhook {team_webhook.pk}"):
        rotate()
    token.refresh_from_db()
    assert encryption.envelope_key_id_or_blank(bytes(token.ciphertext)) == "new"


def test_the_key_of_a_webhooks_secret_cannot_be_taken_out(team_webhook, settings):
    settings.ENCRYPTION_KEYS = NEW
    found = [one.msg for one in run_checks(databases=["default"]) if one.id == "proxyapi.E002"]
    assert len(found) == 1
    assert found[0].startswith("1 alert webhooks need keys that are missing in ENCRYPTION_KEYS")


def test_a_broken_envelope_hides_no_lost_key(team_webhook, token, settings):
    """Sealed under the old key, one emptied row beside it: the check still finds the other."""
    type(token).objects.update(ciphertext=b"")
    settings.ENCRYPTION_KEYS = NEW
    assert "proxyapi.E002" in {one.id for one in run_checks(databases=["default"])}


def test_every_sealed_field_is_one_that_the_check_and_the_rotation_know():
    holders = {
        model
        for model in apps.get_models()
        if any(field.name.startswith("ciphertext") for field in model._meta.get_fields())
    }
    assert holders == set(sealed_models())
    assert {model.__name__ for model in holders} == {
        *("Token", "AlertWebhook", "StoredFile", "SecondFactorSecret", "SingleSignOnSecret"),
    }


def test_the_secrets_of_second_factors_are_encrypted_again(priya, settings):
    key = store_second_factors(priya.user)
    settings.ENCRYPTION_KEYS = f"{NEW},{OLD}"
    assert "2 second factor secrets need an old key." in rotate("--dry-run")
    rotate()
    settings.ENCRYPTION_KEYS = NEW
    app = Authenticator.objects.get(type=Authenticator.Type.TOTP)
    assert decrypt(app.data["secret"]) == key


def test_a_second_factor_that_does_not_open_is_named(priya, settings):
    store_second_factors(priya.user)
    settings.ENCRYPTION_KEYS = NEW
    with pytest.raises(CommandError, match="2 secrets could not be decrypted"):
        rotate()
