"""Where an answer quotes a token: plainly, or as JSON, addresses, HTML or base64 write it.

Contract: pure, standard library only. A service that echoes what it was sent does so through one of
its own encoders: a validation message is JSON, a `Location` is an address, an error page is HTML, a
debug line may hold the header in base64. Nothing is guessed beyond that.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from html import unescape

# One character of ASCII written otherwise, twice over perhaps. Backslashes count for nothing.
ESCAPED_CHAR_RE = re.compile(
    rb"\\+u00([2-7][0-9A-Fa-f])|%(?:25)*([2-7][0-9A-Fa-f])|\\+"
    rb"|(&(?:amp;)*(?:#0{0,5}\d{2,3}|#[xX]0{0,4}[2-7][0-9A-Fa-f]|amp|lt|gt|quot|apos);)"
)


def redact_token(body: bytes, token: bytes) -> bytes:
    """`body` with each place that quotes the token overwritten with stars of the same length."""
    for form in {token, *base64_fragments(token)}:
        body = body.replace(form, b"*" * len(form))
    plain = ESCAPED_CHAR_RE.sub(_unescape_char, token)
    if plain in ESCAPED_CHAR_RE.sub(_unescape_char, body):
        return _redact_escaped(body, plain)
    return body


def base64_fragments(raw: bytes) -> Iterator[bytes]:
    """Of each of the three offsets, the part that does not depend on what stands around it."""
    for before in range(3):
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            encoded = encode(b"\0" * before + raw)
            yield encoded[(before * 8 + 5) // 6 : (before + len(raw)) * 8 // 6]


def _redact_escaped(body: bytes, token: bytes) -> bytes:
    """The same where it is escaped, wholly or in part: slow, and only where it is."""
    plain, starts, made = bytearray(), [], bytearray(body)
    for unit in re.finditer(ESCAPED_CHAR_RE.pattern + b"|(?s:.)", body):
        if meant := _unescape_char(unit):
            plain += meant
            starts.append(unit.start())
    starts.append(len(body))
    found = plain.find(token)
    while found >= 0:
        end = found + len(token)
        made[starts[found] : starts[end]] = b"*" * (starts[end] - starts[found])
        found = plain.find(token, end)
    return bytes(made)


def _unescape_char(unit: re.Match[bytes]) -> bytes:
    """The one character that is meant; none by a backslash."""
    json, address, html = unit.groups()
    meant = unit[0][:1]
    if json or address:
        meant = bytes((int(json or address, 16),))
    elif html:
        text = unescape(re.sub(b"^&(amp;)+(?=.)", b"&", html).decode("ascii"))
        meant = text.encode() if len(text) == 1 and text.isascii() else b"?"
    return b"" if meant == b"\\" else meant
