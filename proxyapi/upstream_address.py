"""Which accounts belong to the upstream that the portal uses now (VIDEO_API_BASE_URL).

A token is sent only to the upstream for which it was encrypted, which its account's row names.
Accounts of any other address are paused: nothing is requested for them and nothing about them is
decided. This is computed and never stored, so setting the former address again resumes them.

A sandbox on this machine may move to another port and stays the same upstream, and so does one at
the host `sandbox`. The two are not the same: that host is another machine with another database.
"""

from __future__ import annotations

import re

from django.conf import settings
from django.db.models import Q

# For Python, PostgreSQL and SQLite alike.
SANDBOX_URL_PATTERNS = (
    r"^http://(127\.0\.0\.1|localhost|\[::1\])(:[0-9]+)?/v2$",
    r"^http://sandbox(:[0-9]+)?/v2$",
)


def is_current_upstream(address: str) -> bool:
    """Whether a token that was encrypted for this address may be sent to the one in use."""
    pattern = sandbox_url_pattern()
    if pattern is not None:
        return re.search(pattern, address) is not None
    return address == str(settings.VIDEO_API_BASE_URL)


def current_upstream_filter(field: str = "environment") -> Q:
    """The same as a query filter; `field` is the path to `Account.environment`."""
    pattern = sandbox_url_pattern()
    if pattern is not None:
        return Q(**{f"{field}__regex": pattern})
    return Q(**{field: settings.VIDEO_API_BASE_URL})


def sandbox_url_pattern() -> str | None:
    """The pattern of all addresses of the sandbox in use; None if the upstream is not a sandbox."""
    matching = (
        pattern
        for pattern in SANDBOX_URL_PATTERNS
        if re.search(pattern, settings.VIDEO_API_BASE_URL)
    )
    return next(matching, None)
