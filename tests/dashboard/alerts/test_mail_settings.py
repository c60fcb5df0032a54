"""A process whose mail or address is set wrong does not start, and says why without a password."""

from __future__ import annotations

import pytest

from tests.dashboard.test_settings import load_settings


@pytest.mark.parametrize(
    ("environ", "sentence"),
    [
        ({"EMAIL_URL": "pigeon://mira:canary-word@mail.example"}, "EMAIL_URL cannot be parsed."),
        ({"EMAIL_URL": "mira:canary-word@mail.example"}, "EMAIL_URL cannot be parsed."),
        ({"EMAIL_URL": "smtp://mira:canary-word@mail.example:many"}, "EMAIL_URL cannot be parsed."),
        ({"EMAIL_FROM": "nobody"}, "EMAIL_FROM must be an e-mail address"),
        ({"PORTAL_URL": "reelroom.example"}, "PORTAL_URL must be the address of the portal"),
        ({"ALERT_RETENTION_DAYS": "34"}, "ALERT_RETENTION_DAYS must be a number from 35 to 3650."),
        (
            {"ALERT_RETENTION_DAYS": "3651"},
            "ALERT_RETENTION_DAYS must be a number from 35 to 3650.",
        ),
        ({"PORTAL_URL": "ftp://reelroom.example"}, "PORTAL_URL must be the address of the portal"),
    ],
)
def test_a_wrong_setting_is_reported_in_a_sentence(environ, sentence):
    error = load_settings(**environ).error
    assert sentence in error
    assert "canary-word" not in error


def test_right_ones_are_taken():
    assert not load_settings(
        EMAIL_URL="smtp+tls://mira:canary-word@mail.example:587",
        EMAIL_FROM="reelroom@northlight.example",
        PORTAL_URL="https://reelroom.northlight.example/",
        ALERT_RETENTION_DAYS="35",
    ).error
