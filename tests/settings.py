"""The settings of the tests: the site's own, with secrets of the day and servers of the run.

`TEST_DATABASE=postgresql` runs on the PostgreSQL that tests/conftest.py starts; else it is SQLite
in a file, because in memory it would lock differently. An address in REDIS_URL goes before.
"""

from __future__ import annotations

import base64
import os
import secrets
import tempfile
from pathlib import Path

# Processes of one run share it: they inherit the environment of the first. tests/conftest.py makes
# the folder; mypy reads these settings, too, and needs none.
NAME = f"reelroom-{secrets.token_hex(8)}"
TEST_DIR = Path(os.environ.setdefault("REELROOM_TEST_DIR", f"{tempfile.gettempdir()}/{NAME}"))
POSTGRES_DIR = TEST_DIR / "postgres"
WORKER = os.environ.get("PYTEST_XDIST_WORKER", "main")
VALKEY_SOCKET = TEST_DIR / f"valkey-{WORKER}.sock"
ON_POSTGRES = os.environ.get("TEST_DATABASE") == "postgresql"

os.environ["REELROOM_VAR"] = str(TEST_DIR / "var")
os.environ.setdefault("VIDEO_API_BASE_URL", "http://127.0.0.1:8001/v2")
os.environ.setdefault("SECRET_KEY", secrets.token_urlsafe(40))
os.environ.setdefault("ENCRYPTION_KEYS", f"k1:{base64.b64encode(secrets.token_bytes(32)).decode()}")
if os.environ.get("REDIS_URL", str(TEST_DIR)).startswith((str(TEST_DIR), f"unix://{TEST_DIR}")):
    os.environ["REDIS_URL"] = f"unix://{VALKEY_SOCKET}"
os.environ["DATABASE_URL"] = (
    f"postgres://postgres@/{POSTGRES_DIR}/postgres"
    if ON_POSTGRES
    else f"sqlite:///{TEST_DIR / 'site.sqlite3'}"
)

# The site's own, read once the secrets are there.
from dashboard.settings import *  # noqa: E402, F403, TID251
from dashboard.settings import DATABASES, LOGGING, STORAGES, TEMPLATES  # noqa: E402, TID251
from tests.unknown_variables import UnknownVariable  # noqa: E402

if not ON_POSTGRES:
    DATABASES["default"].setdefault("TEST", {})["NAME"] = str(TEST_DIR / "test.sqlite3")
# Fifty at once wait for one lock, or for a connection: how long tells of the machine.
options = DATABASES["default"]["OPTIONS"]
(options["pool"] if ON_POSTGRES else options)["timeout"] = 300  # seconds
CHARGE_LOG_DIR = TEST_DIR / f"charge-log-{WORKER}"
# Slow hashing proves nothing here.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
TEMPLATES[0]["OPTIONS"]["string_if_invalid"] = UnknownVariable("%s")  # type: ignore[index]
# Two lines a request are a twentieth of what a page costs.
LOGGING["loggers"] |= {"django_structlog": {"level": "WARNING"}}  # type: ignore[operator]
