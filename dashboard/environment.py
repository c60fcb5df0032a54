"""Environment variables for the settings; a value that cannot be parsed is refused by its name."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import environ
from django.core.exceptions import ImproperlyConfigured

# Files in the zone directory that differ between machines.
MACHINE_LOCAL_ZONES = ("localtime", "posixrules", "Factory")
MIN_SECRET_LENGTH, MIN_DISTINCT_CHARACTERS = 32, 8  # characters
REDIS_SCHEMES = ("redis", "rediss", "unix")


class Environment(environ.FileAwareEnv):  # type: ignore[misc]
    """Raises `ImproperlyConfigured` without the value, which may contain a password."""

    def get_value(self, var: str, *args: Any, **options: Any) -> Any:
        try:
            return super().get_value(var, *args, **options)
        except OSError as error:
            raise ImproperlyConfigured(f"{var}_FILE cannot be read: {error.strerror}.") from None
        except ValueError:
            raise ImproperlyConfigured(f"{var} cannot be parsed.") from None

    def required(self, name: str, remedy: str) -> str:
        """Return the variable; raise `ImproperlyConfigured` if it is empty or a placeholder."""
        value: str = self.str(name, default="")
        if not value.strip() or value.lower().startswith(
            ("change", "placeholder", "secret", "django-insecure")
        ):
            raise ImproperlyConfigured(f"{name} is not set. {remedy}")
        return value

    def secret(self, name: str, remedy: str) -> str:
        """Return the variable; raise `ImproperlyConfigured` if it is short or uniform, hence
        guessable."""
        value = self.required(name, remedy)
        if len(value) < MIN_SECRET_LENGTH or len(set(value)) < MIN_DISTINCT_CHARACTERS:
            raise ImproperlyConfigured(
                f"{name} needs at least {MIN_SECRET_LENGTH} characters, "
                f"{MIN_DISTINCT_CHARACTERS} of them different. {remedy}"
            )
        return value

    def text_or_default(self, name: str, default: str) -> str:
        """An empty value counts as not set: an `.env` file keeps such lines."""
        return self.str(name, default="").strip() or default

    def text_list(self, name: str, default: list[str]) -> list[str]:
        """The values between commas, without surrounding spaces."""
        return list(filter(None, map(str.strip, self.list(name, default=default)))) or default

    def number(self, name: str, default: float, least: float, most: float) -> float:
        try:
            value = float(self.text_or_default(name, str(default)))
        except ValueError:
            value = math.nan
        if not least <= value <= most:
            raise ImproperlyConfigured(f"{name} must be a number from {least} to {most}.")
        return value

    def integer(self, name: str, default: int, least: int, most: int) -> int:
        value = self.number(name, default, least, most)
        if not value.is_integer():
            raise ImproperlyConfigured(f"{name} must be a whole number from {least} to {most}.")
        return int(value)

    def choice(self, name: str, *choices: str) -> str:
        """The matching choice, case-insensitive; the first one if the variable is not set."""
        value = self.text_or_default(name, choices[0])
        for choice in choices:
            if choice.lower() == value.lower():
                return choice
        raise ImproperlyConfigured(f"{name} must be one of {', '.join(choices)}.")

    def time_zone(self, name: str) -> str:
        value = self.text_or_default(name, "UTC")
        try:
            ZoneInfo(value)
            is_named = value not in MACHINE_LOCAL_ZONES
        except (ZoneInfoNotFoundError, ValueError, OSError):
            is_named = False
        if not is_named:
            raise ImproperlyConfigured(f"{name} must be a time zone such as Europe/Paris, or UTC.")
        return value

    def database(self, name: str, file: Path, options: dict[str, dict[str, Any]]) -> dict[str, Any]:
        """Django's settings for the database URL in `name`, or for the SQLite `file` if it is not
        set.

        `options` by vendor are merged over those in the URL; they say how TLS is verified, for
        example.
        """
        url = self.text_or_default(name, "")
        sqlite_configuration: dict[str, Any] = {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": str(file),
        }
        try:
            configuration = self.db_url_config(url) if url else sqlite_configuration
        except ValueError:
            configuration = {}
        vendor = configuration.get("ENGINE", "").rpartition(".")[2]
        if vendor not in options:
            raise ImproperlyConfigured(
                f"{name} must be postgres://user:password@host/name or sqlite:////path/to/a/file."
            )
        return {**configuration, "OPTIONS": {**configuration.get("OPTIONS", {}), **options[vendor]}}

    def redis(self, name: str, socket: Path) -> str:
        """The URL in `name`, or the URL of `socket` if it is not set."""
        value = self.text_or_default(name, f"unix://{socket}")
        if urlsplit(value).scheme not in REDIS_SCHEMES:
            raise ImproperlyConfigured(
                f"{name} must be redis://host:6379/0, rediss://… with TLS, or unix:///path/to/a/socket."
            )
        return value
