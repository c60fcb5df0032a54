"""The installation as its operator sees it: all teams, their use, and their suspension."""

from __future__ import annotations
