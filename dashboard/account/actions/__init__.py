"""What a person changes in their own account."""

from __future__ import annotations
