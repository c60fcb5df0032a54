"""`meta` and `links` of a page of a list."""

from __future__ import annotations

import math
from typing import Any
from urllib.parse import urlencode

from fastapi import Request


def describe_page(
    request: Request, page: int, per_page: int, total: int, shown: int
) -> tuple[dict[str, Any], dict[str, str | None]]:
    """For a page (from 1) that shows so many rows of the total."""
    last, first = max(1, math.ceil(total / per_page)), (page - 1) * per_page
    meta = {
        "current_page": page,
        "per_page": per_page,
        "total": total,
        "last_page": last,
        "from": first + 1 if shown else None,
        "to": first + shown if shown else None,
    }
    links = {
        "first": _page_url(request, 1),
        "last": _page_url(request, last),
        "prev": _page_url(request, page - 1) if page > 1 else None,
        "next": _page_url(request, page + 1) if page < last else None,
    }
    return meta, links


def _page_url(request: Request, page: int) -> str:
    return str(request.url.replace(query=urlencode({**request.query_params, "page": page})))
