"""Members of a team. `actions` is used by management commands; other areas link by URL name."""

from __future__ import annotations
