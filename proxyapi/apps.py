"""Everything that touches the upstream, as a Django app."""

from __future__ import annotations

from django.apps import AppConfig


class ProxyapiConfig(AppConfig):
    name = "proxyapi"
    default_auto_field = "django.db.models.BigAutoField"
