"""What changes a team's members and settings, or removes one."""

from __future__ import annotations
