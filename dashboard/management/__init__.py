"""Commands of `manage.py`, and the generator of reference documents."""

from __future__ import annotations
