"""A sandbox in this process to which the portal and its seed command talk."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.test import override_settings
from django.utils import timezone

from dashboard.demo.sandbox_admin import SandboxAdmin
from proxyapi import calls
from proxyapi.operations import OPERATIONS
from proxyapi.upstream.client import UpstreamClient
from tests.proxyapi.money.in_process_sandbox import ADDRESS, InProcessSandbox


@contextmanager
def demo_sandbox(folder: Path) -> Iterator[InProcessSandbox]:
    """On the machine's clock; the demo is to have a past."""
    address = f"{ADDRESS}/v2"
    with (
        asyncio.Runner() as loop,
        pytest.MonkeyPatch.context() as patch,
        override_settings(
            VIDEO_API_BASE_URL=address, VIDEO_API_IS_SANDBOX=True, VAR=folder, DEMO="full"
        ),
    ):
        made = InProcessSandbox(folder / "media", loop)
        made.clock.set_mode("real", now=timezone.now().timestamp())

        def send(_: SandboxAdmin, method: str, path: str, body: Any = None) -> Any:
            with httpx.Client(transport=made, base_url=ADDRESS) as client:
                return client.request(method, path, json=body).raise_for_status().json()

        patch.setattr(SandboxAdmin, "_request", send)
        with UpstreamClient(address, OPERATIONS, transport=made) as client:
            patch.setattr(calls, "upstream_client", lambda: client)
            yield made
