"""Automatic top-up and credit packs. Other areas link by URL name."""

from __future__ import annotations
