"""What areas share. Each module or package here is for every area; none imports an area."""

from __future__ import annotations
