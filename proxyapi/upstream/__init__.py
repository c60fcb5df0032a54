"""The HTTP client of the upstream API. It knows no database and no page."""

from __future__ import annotations
