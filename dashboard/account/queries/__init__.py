"""What the page of one's own account shows."""

from __future__ import annotations
