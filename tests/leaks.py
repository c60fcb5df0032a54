"""Canary tokens: planted in a running house, then searched in everything that leaves it (proof F1,
pitfall_92).

A token is looked for as it is and as it may have been written down on the way: base64 at any of
three offsets, hexadecimal, percent-encoded, turned round, in other capitals.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from urllib.parse import quote


def forms(token: str) -> set[bytes]:
    """Every way in which a token is looked for. JSON and HTML write ASCII tokens as they are."""
    raw = token.encode()
    return {
        raw,
        raw[::-1],
        raw.upper(),
        raw.lower(),
        raw.swapcase(),
        raw.hex().encode(),
        quote(token, safe="").encode(),
        "".join(f"%{byte:02x}" for byte in raw).encode(),
        *in_base64(raw),
    }


def in_base64(raw: bytes) -> Iterator[bytes]:
    """The part of the encoding that does not depend on what stands before and after."""
    for before in range(3):
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            encoded = encode(b"\0" * before + raw)
            start = (before * 8 + 5) // 6
            whole = (before + len(raw)) * 8 // 6
            yield encoded[start:whole]


@dataclass
class Canaries:
    """`heard` is what left the house, by where it was found."""

    planted: set[str] = field(default_factory=set)
    heard: dict[str, list[bytes]] = field(default_factory=dict)

    def plant(self, *tokens: str) -> None:
        self.planted.update(tokens)

    def hear(self, where: str, *said: bytes | str) -> None:
        parts = (one.encode() if isinstance(one, str) else one for one in said)
        self.heard.setdefault(where, []).extend(parts)

    def found(self) -> list[str]:
        """Where a planted token was found; the sentences quote none."""
        return sorted(set(self._found()))

    def _found(self) -> Iterable[str]:
        for where, said in self.heard.items():
            everything = b"\n".join(said)
            for token in self.planted:
                for form in forms(token):
                    if form in everything:
                        kind = "as it is" if form == token.encode() else "encoded"
                        yield f"{where}: the token …{token[-4:]}, {kind}"
