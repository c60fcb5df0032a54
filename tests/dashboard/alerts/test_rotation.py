"""The sealing key is rotated for the webhooks' secrets, too."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from dashboard.models import Webhook
from proxyapi import seal

OLD, NEW = f"old:{seal.generate_key()}", f"new:{seal.generate_key()}"


@pytest.fixture(autouse=True)
def _old(settings):
    settings.SEALING_KEYS = OLD


def rotate(*options):
    out = StringIO()
    call_command("rotate_keys", *options, stdout=out)
    return out.getvalue()


def test_a_webhooks_secret_is_sealed_with_the_first_key_and_opens_as_before(hook, secret, settings):
    settings.SEALING_KEYS = f"{NEW},{OLD}"
    assert "1 webhooks need an old key." in rotate("--dry-run")
    rotate()
    settings.SEALING_KEYS = NEW
    row = Webhook.objects.get()
    assert seal.open_sealed(bytes(row.sealed), row.seal_row(), seal.ring()) == secret.encode()


def test_one_that_does_not_open_keeps_the_old_key_needed(hook, settings):
    settings.SEALING_KEYS = NEW
    with pytest.raises(CommandError, match="1 webhooks"):
        rotate()
