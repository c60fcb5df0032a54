"""A setting that is wrong ends in a sentence before anything starts, and never in its value."""

from __future__ import annotations

import importlib.util
import os
import traceback
import warnings
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock
from uuid import uuid4

import pytest
from django.core.exceptions import ImproperlyConfigured

from dashboard.up.install import ROOT
from dashboard.up.install_paths import Installation


class LoadedSettings(NamedTuple):
    values: dict[str, Any]
    error: str  # as a traceback would show it; "" if there is none


def load_settings(**environ: str) -> LoadedSettings:
    """The settings as a process with this environment reads them. Only an `ImproperlyConfigured`
    becomes one sentence there (manage.py)."""
    spec = importlib.util.spec_from_file_location("settings_again", ROOT / "dashboard/settings.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with mock.patch.dict(os.environ, environ), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # django-environ warns of what we refuse
        try:
            spec.loader.exec_module(module)
        except ImproperlyConfigured:
            return LoadedSettings({}, traceback.format_exc())
    return LoadedSettings(vars(module), "")


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("http://api.example/v2", "VIDEO_API_BASE_URL must start with https://"),
        ("https://api.example", "VIDEO_API_BASE_URL must end in /v2"),
        ("https://api.example/v2/", ""),
        ("http://127.0.0.1:9/v2", ""),
    ],
)
def test_the_service_is_asked_over_https_and_under_its_version(address: str, told: str) -> None:
    keys = {"SECRET_KEY": f"{uuid4()}{uuid4()}", "ENCRYPTION_KEYS": "k1:nobody reads it here"}
    error = load_settings(VIDEO_API_BASE_URL=address, **keys).error
    assert bool(error) is bool(told)
    assert told in error


@pytest.mark.parametrize("address", [None, "", "  "])
def test_without_the_address_of_the_service_nothing_starts(
    address: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A default would send the tokens of an installation to a sandbox."""
    monkeypatch.delenv("VIDEO_API_BASE_URL")
    error = load_settings(**({} if address is None else {"VIDEO_API_BASE_URL": address})).error
    assert "VIDEO_API_BASE_URL is not set. Set it to the base URL of the video API" in error


def test_a_command_typed_beside_make_run_uses_its_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("VIDEO_API_BASE_URL", "SECRET_KEY", "ENCRYPTION_KEYS"):
        monkeypatch.delenv(name)
    place = Installation.from_environ({"REELROOM_VAR": str(tmp_path), "SANDBOX_PORT": "8081"})
    place.ensure_secrets()
    place.write_address_file()
    beside = load_settings(REELROOM_VAR=str(tmp_path)).values
    assert beside["VIDEO_API_BASE_URL"] == "http://127.0.0.1:8081/v2"
    other = {"VIDEO_API_BASE_URL": "https://api.example/v2"}
    elsewhere = load_settings(REELROOM_VAR=str(tmp_path), **other).values
    assert elsewhere["VIDEO_API_BASE_URL"] == "https://api.example/v2"


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("LOG_LEVEL", "loud", "LOG_LEVEL must be one of INFO, DEBUG, WARNING"),
        ("DEMO", "bare", "DEMO must be one of full, empty, none."),
        ("LOG_FORMAT", "xml", "LOG_FORMAT must be one of plain, json."),
        (
            "TIME_ZONE",
            "Europe/Berln",
            "TIME_ZONE must be a time zone such as Europe/Paris, or UTC.",
        ),
        ("TRUSTED_PROXIES", "one", "TRUSTED_PROXIES must be a number from 0 to 10."),
        ("DATABASE_POOL_SIZE", "2.5", "DATABASE_POOL_SIZE must be a whole number from 2 to 1000."),
        ("DATABASE_POOL_SIZE", "1", "DATABASE_POOL_SIZE must be a number from 2 to 1000."),
        ("TIME_ZONE", "localtime", "TIME_ZONE must be a time zone such as Europe/Paris, or UTC."),
        ("HOLD_MARGIN", "0.1", "HOLD_MARGIN must be a number from 1 to 3."),
        ("HOLD_MARGIN", "110%", "HOLD_MARGIN must be a number from 1 to 3."),
        ("HOLD_MARGIN", "nan", "HOLD_MARGIN must be a number from 1 to 3."),
        ("REDIS_URL", "mira:canary-word@redis:6379", "REDIS_URL must be redis://"),
        ("VIDEO_API_METHODS", "canary-word", "VIDEO_API_METHODS cannot be parsed."),
        ("ENCRYPTION_KEYS", "", "ENCRYPTION_KEYS is not set."),
        (
            "ENCRYPTION_KEYS_FILE",
            "/nowhere/keys",
            "ENCRYPTION_KEYS_FILE cannot be read: No such file",
        ),
        ("DATABASE_URL", "canary-word", "DATABASE_URL must be postgres://"),
        ("DATABASE_URL", "mysql://mira:canary-word@db/x", "DATABASE_URL must be postgres://"),
        (
            "DATABASE_URL",
            "postgres://mira:canary-word@db:many/x",
            "DATABASE_URL must be postgres://",
        ),
    ],
)
def test_a_wrong_setting_is_reported_by_its_name(name: str, value: str, told: str) -> None:
    error = load_settings(**{name: value}).error
    assert told in error
    assert "canary-word" not in error


LONG_KEY = "a key for tests, 40 characters, harmless"


@pytest.mark.parametrize(
    "value", ["canar", "0" * 64, "canary" * 10, "0123456789 canary, 31 charact."]
)
def test_a_secret_key_that_can_be_guessed_is_refused(value: str) -> None:
    error = load_settings(SECRET_KEY=value).error
    assert "SECRET_KEY needs at least 32 characters, 8 of them different." in error
    assert value not in error


def test_a_secret_key_of_32_characters_is_taken() -> None:
    assert load_settings(SECRET_KEY=LONG_KEY[:32]).error == ""


@pytest.mark.parametrize("hosts", ["*", "reelroom.example, *"])
def test_a_portal_that_answers_to_every_host_does_not_start(hosts: str) -> None:
    assert (
        "ALLOWED_HOSTS must not be *, which accepts every host"
        in load_settings(ALLOWED_HOSTS=hosts).error
    )
    assert load_settings(ALLOWED_HOSTS=hosts, DEBUG="true").error == ""


@pytest.mark.parametrize("address", ["", "http://reelroom.example"])
def test_behind_tls_the_address_for_links_has_to_be_set(address: str) -> None:
    error = load_settings(BEHIND_TLS="true", PORTAL_URL=address).error
    assert "BEHIND_TLS needs PORTAL_URL for links in e-mails" in error
    assert load_settings(BEHIND_TLS="true", PORTAL_URL="https://reelroom.example").error == ""


def test_what_is_set_to_nothing_is_as_not_set() -> None:
    names = (
        *("TRUSTED_PROXIES", "DATABASE_POOL_SIZE", "LOG_LEVEL", "TIME_ZONE", "REDIS_URL"),
        *("ALLOWED_HOSTS", "EMAIL_URL", "EMAIL_FROM", "PORT", "PORTAL_URL"),
    )
    values, error = load_settings(**dict.fromkeys(names, ""), LOG_FORMAT="JSON")
    assert error == ""
    assert values["PORTAL_URL"] == "http://localhost:8000"
    assert values["ALLOWED_HOSTS"] == ["localhost", "127.0.0.1", "[::1]"]


def test_an_address_keeps_what_it_says_of_tls() -> None:
    address = "postgres://mira@db/reelroom?sslmode=verify-full&sslrootcert=/etc/ca.pem"
    options = load_settings(DATABASE_URL=address).values["DATABASES"]["default"]["OPTIONS"]
    assert options.items() >= {"sslmode": "verify-full", "sslrootcert": "/etc/ca.pem"}.items()
    assert "pool" in options


def test_hosts_may_have_spaces_between_them() -> None:
    values = load_settings(ALLOWED_HOSTS="a.example, b.example").values
    assert values["ALLOWED_HOSTS"] == ["a.example", "b.example"]


def test_a_folder_may_be_called_anything(tmp_path: Path) -> None:
    var = tmp_path / "c++ #1 %20"
    values = load_settings(REELROOM_VAR=str(var), DATABASE_URL="").values
    assert str(values["DATABASES"]["default"]["NAME"]) == f"{var}/reelroom.sqlite3"


@pytest.mark.parametrize(
    ("environ", "resets"),
    [
        ({"EMAIL_URL": ""}, True),
        ({"EMAIL_URL": "", "BEHIND_TLS": "true"}, False),
        ({"EMAIL_URL": "consolemail://", "BEHIND_TLS": "true"}, False),
        ({"EMAIL_URL": "smtp+tls://mail.example:587", "BEHIND_TLS": "true"}, True),
    ],
)
def test_behind_tls_no_link_for_a_password_is_written_to_the_log(
    environ: dict[str, str], resets: bool
) -> None:
    values = load_settings(PORTAL_URL="https://reelroom.example", **environ).values
    assert values["PASSWORD_RESET_BY_EMAIL"] is resets


@pytest.mark.parametrize(
    ("environ", "shows"),
    [
        ({}, True),
        ({"DEMO": "empty", "EMAIL_URL": " "}, True),
        ({"DEMO": "none"}, False),
        ({"EMAIL_URL": "consolemail://"}, False),
        ({"EMAIL_URL": "smtp+tls://mail.example:587"}, False),
        ({"BEHIND_TLS": "true"}, False),
        ({"VIDEO_API_BASE_URL": "https://api.example/v2"}, False),
    ],
)
def test_only_a_demo_without_a_mail_server_shows_its_mails(
    environ: dict[str, str], shows: bool
) -> None:
    values = load_settings(PORTAL_URL="https://reelroom.example", **environ).values
    assert values["DEMO_SHOWS_MAILS"] is shows
    assert ("KeepingMailBackend" in values["EMAIL_BACKEND"]) is shows


def test_behind_tls_cookies_and_pages_are_for_https_alone() -> None:
    values = load_settings(BEHIND_TLS="true", PORTAL_URL="https://reelroom.example").values
    assert values["SESSION_COOKIE_NAME"] == "__Host-session"
    assert values["CSRF_COOKIE_NAME"] == "__Host-csrf"
    assert values["SECURE_HSTS_SECONDS"] == 31536000
    assert values["SECURE_REDIRECT_EXEMPT"] == ["^(healthz|readyz|metrics)$"]
    for name in ("SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE", "SECURE_SSL_REDIRECT"):
        assert values[name] is True
    assert values["SECURE_HSTS_INCLUDE_SUBDOMAINS"] is True


@pytest.mark.parametrize(
    ("token", "told"),
    [
        ("", ""),
        ("0123456789-abcdefghij-0123456789-ab", ""),
        ("guess", "METRICS_TOKEN needs at least 32 characters"),
        ("a" * 40, "METRICS_TOKEN needs at least 32 characters, 8 of them different"),
        ("change me 0123456789 abcdefghij 0123", "METRICS_TOKEN is not set"),
    ],
)
def test_the_token_of_the_metrics_cannot_be_guessed(token: str, told: str) -> None:
    loaded = load_settings(METRICS_TOKEN=token)
    assert told in loaded.error
    assert bool(loaded.error) is bool(told)
    assert not (token and told) or token not in loaded.error
    assert loaded.values.get("METRICS_TOKEN", token) == token
