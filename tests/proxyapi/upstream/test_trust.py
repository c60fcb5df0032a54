"""The authorities are read once, however many connections trust them."""

from __future__ import annotations

import ssl
from unittest.mock import Mock

import pytest

from proxyapi.operations import OPERATIONS
from proxyapi.upstream.client import UpstreamClient
from proxyapi.upstream.tls import shared_ssl_context

API = "https://api.example/v2"


def test_they_are_read_once_for_all_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    read = Mock(wraps=ssl.create_default_context)
    monkeypatch.setattr(ssl, "create_default_context", read)
    shared_ssl_context.cache_clear()

    for _ in range(2):
        with UpstreamClient(API, OPERATIONS):
            pass

    assert read.call_count == 1


def test_they_judge_the_host_and_its_certificate() -> None:
    assert shared_ssl_context().verify_mode is ssl.CERT_REQUIRED
    assert shared_ssl_context().check_hostname
