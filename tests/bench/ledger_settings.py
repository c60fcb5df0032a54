"""The site's settings for the ledger's figures: no static files are collected there."""

from __future__ import annotations

from dashboard.settings import *  # noqa: F403, TID251
from dashboard.settings import ALLOWED_HOSTS, STORAGES  # noqa: TID251

ALLOWED_HOSTS = [*ALLOWED_HOSTS, "testserver"]
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
