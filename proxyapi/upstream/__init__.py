"""The client of the API, and nothing else.

Others use `client`, `catalog`, `operation` and `errors`.
"""

from __future__ import annotations
