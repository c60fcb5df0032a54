"""What the pages of voices show, as frozen dataclasses."""

from __future__ import annotations
