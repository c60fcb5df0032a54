"""A topic as people type it, made to fit into a sentence."""

from __future__ import annotations

from collections.abc import Iterable


def as_clause(topic: str, starters: frozenset[str], requests: Iterable[str]) -> str:
    """`Why the sea is salty?` becomes `why the sea is salty`; names keep their capitals."""
    text = " ".join(topic.replace("{", "(").replace("}", ")").split()).strip(" \"'“”«».!?…:;,")
    lowered = text.lower()
    for request in sorted(requests, key=len, reverse=True):
        if lowered.startswith(request + " "):
            text = text[len(request) :].strip()
            break
    first, _, rest = text.partition(" ")
    if first.lower() in starters and not first.isupper():
        return f"{first.lower()} {rest}".strip()
    if _common(first, rest):
        return f"{first[:1].lower()}{first[1:]} {rest}".strip()
    return text


def _common(first: str, rest: str) -> bool:
    """Whether a capital is only there because the word comes first: `Lighthouses at night`."""
    plain = first[1:].islower() and first.isalpha()
    return plain and first.endswith(("s", "ing")) and rest == rest.lower() and bool(rest)
