"""A setting that is wrong ends in a sentence before anything starts, and never in its value."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest

from dashboard.up.install_paths import Installation

IMPORT = "import dashboard.settings"


def done_with(program: str = IMPORT, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=False,
    )


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
    done = done_with(VIDEO_API_BASE_URL=address, **keys)
    assert (done.returncode == 0) is not bool(told), done.stderr
    assert told in done.stderr


@pytest.mark.parametrize("address", [None, "", "  "])
def test_without_the_address_of_the_service_nothing_starts(
    address: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A default would send the tokens of an installation to a sandbox."""
    monkeypatch.delenv("VIDEO_API_BASE_URL")
    done = done_with(**({} if address is None else {"VIDEO_API_BASE_URL": address}))
    assert done.returncode
    assert "VIDEO_API_BASE_URL is not set. Set it to the base URL of the video API" in done.stderr


def test_a_command_typed_beside_make_run_uses_its_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("VIDEO_API_BASE_URL", "SECRET_KEY", "ENCRYPTION_KEYS"):
        monkeypatch.delenv(name)
    place = Installation.from_environ({"REELROOM_VAR": str(tmp_path), "SANDBOX_PORT": "8081"})
    place.ensure_secrets()
    place.write_address_file()
    print_address = f"{IMPORT} as s; print(s.VIDEO_API_BASE_URL)"
    done = done_with(print_address, REELROOM_VAR=str(tmp_path))
    assert done.stdout.strip() == "http://127.0.0.1:8081/v2", done.stderr
    elsewhere = done_with(
        print_address, REELROOM_VAR=str(tmp_path), VIDEO_API_BASE_URL="https://api.example/v2"
    )
    assert elsewhere.stdout.strip() == "https://api.example/v2"


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
    done = done_with(**{name: value})
    assert told in done.stderr
    assert "canary-word" not in done.stderr
    assert done.returncode


LONG_KEY = "a key for tests, 40 characters, harmless"


@pytest.mark.parametrize(
    "value", ["canar", "0" * 64, "canary" * 10, "0123456789 canary, 31 charact."]
)
def test_a_secret_key_that_can_be_guessed_is_refused(value: str) -> None:
    done = done_with(SECRET_KEY=value)
    assert "SECRET_KEY needs at least 32 characters, 8 of them different." in done.stderr
    assert value not in done.stderr


def test_a_secret_key_of_32_characters_is_taken() -> None:
    assert done_with(SECRET_KEY=LONG_KEY[:32]).returncode == 0


@pytest.mark.parametrize("hosts", ["*", "reelroom.example, *"])
def test_a_portal_that_answers_to_every_host_does_not_start(hosts: str) -> None:
    assert (
        "ALLOWED_HOSTS must not be *, which accepts every host"
        in done_with(ALLOWED_HOSTS=hosts).stderr
    )
    assert done_with(ALLOWED_HOSTS=hosts, DEBUG="true").returncode == 0


@pytest.mark.parametrize("address", ["", "http://reelroom.example"])
def test_behind_tls_the_address_for_links_has_to_be_set(address: str) -> None:
    done = done_with(BEHIND_TLS="true", PORTAL_URL=address)
    assert "BEHIND_TLS needs PORTAL_URL for links in e-mails" in done.stderr
    assert done_with(BEHIND_TLS="true", PORTAL_URL="https://reelroom.example").returncode == 0


def test_what_is_set_to_nothing_is_as_not_set() -> None:
    names = (
        *("TRUSTED_PROXIES", "DATABASE_POOL_SIZE", "LOG_LEVEL", "TIME_ZONE", "REDIS_URL"),
        *("ALLOWED_HOSTS", "EMAIL_URL", "EMAIL_FROM", "PORT", "PORTAL_URL"),
    )
    print_some = f"{IMPORT} as s; print(s.PORTAL_URL, *s.ALLOWED_HOSTS)"
    done = done_with(print_some, **dict.fromkeys(names, ""), LOG_FORMAT="JSON")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["http://127.0.0.1:8000", "localhost", "127.0.0.1", "[::1]"]


def test_an_address_keeps_what_it_says_of_tls() -> None:
    print_options = f"{IMPORT} as s; print(s.DATABASES['default']['OPTIONS'])"
    address = "postgres://mira@db/reelroom?sslmode=verify-full&sslrootcert=/etc/ca.pem"
    told = done_with(print_options, DATABASE_URL=address).stdout
    assert "'sslmode': 'verify-full', 'sslrootcert': '/etc/ca.pem'" in told
    assert "'pool': " in told


def test_hosts_may_have_spaces_between_them() -> None:
    print_hosts = f"{IMPORT} as s; print(s.ALLOWED_HOSTS)"
    told = done_with(print_hosts, ALLOWED_HOSTS="a.example, b.example").stdout
    assert told.strip() == "['a.example', 'b.example']"


def test_a_folder_may_be_called_anything(tmp_path: Path) -> None:
    var = tmp_path / "c++ #1 %20"
    print_name = f"{IMPORT} as s; print(s.DATABASES['default']['NAME'])"
    told = done_with(print_name, REELROOM_VAR=str(var), DATABASE_URL="").stdout
    assert told.strip() == f"{var}/reelroom.sqlite3"


@pytest.mark.parametrize(
    ("environ", "resets"),
    [
        ({"EMAIL_URL": ""}, "True"),
        ({"EMAIL_URL": "", "BEHIND_TLS": "true"}, "False"),
        ({"EMAIL_URL": "consolemail://", "BEHIND_TLS": "true"}, "False"),
        ({"EMAIL_URL": "smtp+tls://mail.example:587", "BEHIND_TLS": "true"}, "True"),
    ],
)
def test_behind_tls_no_link_for_a_password_is_written_to_the_log(
    environ: dict[str, str], resets: str
) -> None:
    print_it = f"{IMPORT} as s; print(s.PASSWORD_RESET_BY_EMAIL)"
    done = done_with(print_it, PORTAL_URL="https://reelroom.example", **environ)
    assert done.stdout.strip() == resets, done.stderr


def test_behind_tls_cookies_and_pages_are_for_https_alone() -> None:
    names = [
        *("SESSION_COOKIE_NAME", "CSRF_COOKIE_NAME", "SESSION_COOKIE_SECURE"),
        *("CSRF_COOKIE_SECURE", "SECURE_SSL_REDIRECT", "SECURE_HSTS_SECONDS"),
        *("SECURE_HSTS_INCLUDE_SUBDOMAINS", "SECURE_REDIRECT_EXEMPT"),
    ]
    program = f"import dashboard.settings as s; print([getattr(s, name) for name in {names}])"
    done = done_with(program, BEHIND_TLS="true", PORTAL_URL="https://reelroom.example")
    cookies = "'__Host-session', '__Host-csrf', True, True, True"
    assert done.stdout.strip() == f"[{cookies}, 31536000, True, ['^(healthz|readyz)$']]"
