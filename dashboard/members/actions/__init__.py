"""Actions on a team and its members; management commands use them too."""

from __future__ import annotations
