"""What the shell around every page shows: the purse, the counts beside the navigation."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest


def shell(request: HttpRequest) -> dict[str, Any]:
    if not hasattr(request, "membership"):
        return {}
    from dashboard.queries.shell import shell_of

    return {"shell": shell_of(request.membership)}
