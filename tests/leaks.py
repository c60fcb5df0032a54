"""Canary tokens: planted in a running portal, then searched in everything that leaves
it (pitfall_92).

A token is looked for as it is and as it may have been written down on the way: base64 at any of
three offsets, percent-encoded, as JSON and HTML escape it, hexadecimal, turned round, in other
capitals, cut off.
"""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from threading import Lock
from urllib.parse import quote, quote_plus

MAX_HEARD_BYTES = 50_000_000  # bytes; then they are searched, while others go on
PREFIX_CHARS = 24  # characters of a token after which a table or a log may have cut it off


def token_encodings(token: str) -> dict[str, bytes]:
    """Every way in which a token is looked for, by its name.

    Those of a token hold those of its first characters: where these are not, it is not.
    """
    raw, in_json = token.encode(), json.dumps(token)[1:-1]
    ways = {
        "as it is": raw,
        "cut off": raw[:PREFIX_CHARS],
        "turned round": raw[::-1],
        "in capitals": raw.upper(),
        "in small letters": raw.lower(),
        "in other capitals": raw.swapcase(),
        "in hexadecimal": raw.hex().encode(),
        "in an address": quote(token, safe="").encode(),
        "in a path": quote(token).encode(),
        "in a query": quote_plus(token).encode(),
        "in an address, small": quote(token, safe="").lower().encode(),
        "in an address, each byte": "".join(f"%{byte:02x}" for byte in raw).encode(),
        "in an address, twice": quote(quote(token, safe=""), safe="").encode(),
        "in JSON": in_json.encode(),
        "in JSON with slashes": in_json.replace("/", "\\/").encode(),
        "in JSON, each character": "".join(f"\\u{ord(one):04x}" for one in token).encode(),
        "in JSON in JSON": json.dumps(in_json)[1:-1].encode(),
        "in a page": html.escape(token).encode(),
        "in a page, in decimals": html.escape(token).replace("&#x27;", "&#39;").encode(),
        "in a page, each character": "".join(f"&#{ord(one)};" for one in token).encode(),
        "in a page in JSON": json.dumps(html.escape(token))[1:-1].encode(),
        "in JSON in a page": html.escape(in_json).encode(),
    }
    return ways | {f"in base64, {n}": form for n, form in enumerate(base64_fragments(raw))}


def base64_fragments(raw: bytes) -> Iterator[bytes]:
    """The part of the encoding that does not depend on what stands before and after."""
    for before in range(3):
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            encoded = encode(b"\0" * before + raw)
            start = (before * 8 + 5) // 6
            whole = (before + len(raw)) * 8 // 6
            yield encoded[start:whole]


def common_prefix(tokens: Iterable[str]) -> str:
    """What all of them begin with."""
    first, last = min(tokens, default=""), max(tokens, default="")
    same = (n for n, (one, other) in enumerate(zip(first, last, strict=False)) if one != other)
    return first[: next(same, min(len(first), len(last)))]


@dataclass
class Canaries:
    """`heard` is what left the portal, by where it was found."""

    planted: set[str] = field(default_factory=set, repr=False)
    heard: dict[str, list[bytes]] = field(default_factory=dict, repr=False)
    searched: dict[str, int] = field(default_factory=dict)  # bytes, by where
    _found: set[str] = field(default_factory=set)
    _waiting: int = 0  # bytes that were heard and not yet searched
    _turn: Lock = field(default_factory=Lock, repr=False)

    def plant(self, *tokens: str) -> None:
        self.planted.update(tokens)

    def scan(self, where: str, *said: bytes | str) -> None:
        parts = [one.encode(errors="replace") if isinstance(one, str) else one for one in said]
        with self._turn:
            self.heard.setdefault(where, []).extend(parts)
            self._waiting += sum(map(len, parts))
            is_enough = self._waiting > MAX_HEARD_BYTES
        if is_enough:
            self.leaked_tokens()

    def leaked_tokens(self) -> list[str]:
        """Where a planted token was found, ever; the sentences quote none.

        What was heard is searched and then forgotten.
        """
        with self._turn:
            heard, self.heard, self._waiting = self.heard, {}, 0
        for where, said in heard.items():
            everything = b"\n".join(said)
            self.searched[where] = self.searched.get(where, 0) + len(everything)
            self._found.update(f"{where}: {told}" for told in self._tokens_in(everything))
        return sorted(self._found)

    def _tokens_in(self, text: bytes) -> Iterable[str]:
        begins = token_encodings(common_prefix(self.planted))
        ways = [way for way, begin in begins.items() if begin in text]
        for token in self.planted if ways else ():
            written = token_encodings(token)
            for way in ways:
                if written[way] in text:
                    yield f"the token …{token[-4:]}, {way}"

    def scanned_summary(self) -> str:
        """How much was looked at, for a figure. After `found`."""
        size = sum(self.searched.values()) / 1e6
        ways = len(token_encodings(""))
        return (
            f"{len(self.planted)} tokens looked for in {ways} writings, in {len(self.searched)} "
            f"kinds of places, {size:.1f} MB"
        )
