"""What can be done with a storyboard now, and what it costs: used by pages and checked by
actions."""

from __future__ import annotations
