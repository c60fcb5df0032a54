"""What changes a budget or decides an approval request."""

from __future__ import annotations
