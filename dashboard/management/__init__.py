"""Commands of `manage.py`, and the documents that they write."""

from __future__ import annotations
