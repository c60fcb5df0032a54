"""Settings of a draft that are kept for later drafts, in a preset or in the brand kit, and what
they are on an account: its ids differ between upstreams, so slugs are kept."""

from __future__ import annotations
