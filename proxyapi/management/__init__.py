"""Commands of `manage.py` about the upstream's side."""

from __future__ import annotations
