"""The drawings that the product ships for values of the service, by slug: `static/stills`."""

from __future__ import annotations

# Field: the kind in the file name, and the slugs that have a drawing.
SHIPPED_STILLS: dict[str, tuple[str, frozenset[str]]] = {
    "genre_id": (
        "genre",
        frozenset(
            (
                "anime",
                "blueprint",
                "cinematic",
                "nature-documentary",
                "noir",
                "paper-cut",
                "pixel-art",
                "storybook",
                "synthwave",
                "watercolor",
            )
        ),
    ),
    "background_id": (
        "background",
        frozenset(("night-sky", "paper", "soft-gradient", "studio-grey")),
    ),
}


def shipped_still(field: str, slug: str) -> str:
    """Return the path of a drawing below `static`; empty if there is none for this value."""
    kind, slugs = SHIPPED_STILLS.get(field, ("", frozenset()))
    return f"stills/{kind}-{slug}.svg" if slug in slugs else ""
