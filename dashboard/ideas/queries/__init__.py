"""Reads of the page: the list of ideas, the searches, and what is known before a search."""

from __future__ import annotations

from dashboard.ideas.queries.filters import IdeaFilters
from dashboard.ideas.queries.idea_list import load_idea_list
from dashboard.ideas.queries.networks import DEFAULT_NETWORKS, network_label
from dashboard.ideas.queries.overview import IdeaOverview, load_idea_overview
from dashboard.ideas.queries.search_check import SearchCheck, load_search_check
from dashboard.ideas.queries.searches import load_searches
