"""Tests of the pages of characters."""

from __future__ import annotations
