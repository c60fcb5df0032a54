"""Ideas: what searches found, stored here; the service's free list of them, read again."""

from __future__ import annotations

from proxyapi.ideas.records import parse_ideas
from proxyapi.ideas.refresh import refresh_ideas
from proxyapi.ideas.store import store_ideas, store_search_result
