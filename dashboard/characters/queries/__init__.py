"""Reads of the pages of characters, as frozen dataclasses."""

from __future__ import annotations
