"""Everything that touches the upstream, as a Django app."""

from __future__ import annotations

from django.apps import AppConfig


class ProxyapiConfig(AppConfig):
    name = "proxyapi"

    def ready(self) -> None:
        from proxyapi import checks  # noqa: F401 - registers them
