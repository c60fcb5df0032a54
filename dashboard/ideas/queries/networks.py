"""Networks that ideas are searched on. The spec lists none, so the service's word is kept as it is,
and any other one can be entered."""

from __future__ import annotations

from collections.abc import Iterable

# The service's words, as far as they are known, and how people write them.
NETWORK_LABELS = {
    "youtube": "YouTube",
    "tiktok": "TikTok",
    "instagram": "Instagram",
    "pinterest": "Pinterest",
    "facebook": "Facebook",
    "linkedin": "LinkedIn",
    "google": "Google",
    "x": "X",
}
DEFAULT_NETWORKS = ("youtube", "tiktok", "instagram", "pinterest")


def network_label(network: str) -> str:
    return NETWORK_LABELS.get(network.lower(), network)


def offered_networks(seen: Iterable[str]) -> dict[str, str]:
    """Return the default networks and those that owned ideas are from, with their labels."""
    networks = dict.fromkeys([*DEFAULT_NETWORKS, *sorted(filter(None, seen))])
    return {network: network_label(network) for network in networks}
