"""Everything that touches the upstream; it knows no page and no team of the site."""

from __future__ import annotations
