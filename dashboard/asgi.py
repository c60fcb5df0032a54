"""The ASGI entry point: `uvicorn dashboard.asgi:application`."""

from __future__ import annotations

import gc
import os

from django.core.asgi import get_asgi_application
from django.urls import get_resolver

from dashboard.startup_checks import run_startup_checks_in_thread
from proxyapi import redis_client

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
gc.disable()  # until all is loaded: there is nothing to collect before
django_application = get_asgi_application()

from dashboard.api_keys.asgi import GatewayFirst  # noqa: E402 - models come after the set-up
from dashboard.shared.live.stream_app import StreamApp  # noqa: E402
from dashboard.shared.request_size import RequestSizeLimit  # noqa: E402
from proxyapi.gateway.app import Gateway, create_app  # noqa: E402
from proxyapi.mcp_server.app import McpApp  # noqa: E402

gateway = Gateway()
site = RequestSizeLimit(StreamApp(django_application))
application = GatewayFirst(create_app(gateway), McpApp(gateway), site)
run_startup_checks_in_thread()
redis_client.use_page_timeout()
# What is loaded now stays in memory. Scanning it in every full collection made one request in ten
# 70 ms slower.
get_resolver().url_patterns  # noqa: B018 - loads every view
gc.collect()
gc.freeze()
gc.enable()
