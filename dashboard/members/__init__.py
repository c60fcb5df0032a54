"""Members of a team. `actions` is for management commands; other areas link by URL name."""

from __future__ import annotations
