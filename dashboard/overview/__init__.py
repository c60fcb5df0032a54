"""The overview. Other areas link by URL name and import nothing."""

from __future__ import annotations
