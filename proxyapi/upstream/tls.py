"""Whom our own connections trust: the public authorities, read once in a process.

Read anew for each connection, they held up everybody's pages for 20 ms whenever a film was sought,
and kept 0.8 MiB each.
"""

from __future__ import annotations

import ssl
from functools import cache

import httpx


@cache
def shared_ssl_context() -> ssl.SSLContext:
    """Safe to share between threads: all that a connection sets of it is the protocol, HTTP/1.1 for
    each, so no client that speaks another one may take it."""
    return httpx.create_ssl_context(trust_env=False)
