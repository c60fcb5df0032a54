"""What the security page shows, one module per card."""

from __future__ import annotations
