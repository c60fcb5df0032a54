"""The certificate authorities that our connections trust, loaded once in a process.

Loading them for each connection blocked every page for 20 ms whenever a film was requested, and
used 0.8 MiB each time.
"""

from __future__ import annotations

import ssl
from functools import cache

import httpx


@cache
def shared_ssl_context() -> ssl.SSLContext:
    """Safe to share between threads: a connection sets only the protocol on it, always HTTP/1.1, so
    no client of another protocol may use it."""
    return httpx.create_ssl_context(trust_env=False)
