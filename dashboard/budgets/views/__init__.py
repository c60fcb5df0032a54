"""Views of budgets and of approval requests."""

from __future__ import annotations
