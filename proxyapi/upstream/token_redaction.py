"""Redact a token that an answer quotes: plainly, or in JSON, URL, HTML or base64 encoding.

Contract: pure, standard library only. An upstream that echoes what it was sent does so through one
of its own encoders: a validation message is JSON, a `Location` is a URL, an error page is HTML, a
debug line may contain the header in base64. Other encodings are not covered.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from html import unescape

# One escaped ASCII character, perhaps escaped twice. Backslashes are ignored.
ESCAPED_CHAR_RE = re.compile(
    rb"\\+u00([2-7][0-9A-Fa-f])|%(?:25)*([2-7][0-9A-Fa-f])|\\+"
    rb"|(&(?:amp;)*(?:#0{0,5}\d{2,3}|#[xX]0{0,4}[2-7][0-9A-Fa-f]|amp|lt|gt|quot|apos);)"
)


def redact_token(body: bytes, token: bytes) -> bytes:
    """`body` with each occurrence of the token overwritten with asterisks of the same length."""
    for form in {token, *base64_fragments(token)}:
        body = body.replace(form, b"*" * len(form))
    plain = ESCAPED_CHAR_RE.sub(_unescape_char, token)
    if plain in ESCAPED_CHAR_RE.sub(_unescape_char, body):
        return _redact_escaped(body, plain)
    return body


def base64_fragments(raw: bytes) -> Iterator[bytes]:
    """For each of the three offsets, the base64 text that does not depend on the surrounding
    bytes."""
    for before in range(3):
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            encoded = encode(b"\0" * before + raw)
            yield encoded[(before * 8 + 5) // 6 : (before + len(raw)) * 8 // 6]


def _redact_escaped(body: bytes, token: bytes) -> bytes:
    """Redact occurrences that are escaped, wholly or in part; slow, so used only if there are
    any."""
    plain, starts, redacted = bytearray(), [], bytearray(body)
    for unit in re.finditer(ESCAPED_CHAR_RE.pattern + b"|(?s:.)", body):
        if char := _unescape_char(unit):
            plain += char
            starts.append(unit.start())
    starts.append(len(body))
    position = plain.find(token)
    while position >= 0:
        end = position + len(token)
        redacted[starts[position] : starts[end]] = b"*" * (starts[end] - starts[position])
        position = plain.find(token, end)
    return bytes(redacted)


def _unescape_char(unit: re.Match[bytes]) -> bytes:
    """The character that the escape stands for; empty for a backslash."""
    json, address, html = unit.groups()
    char = unit[0][:1]
    if json or address:
        char = bytes((int(json or address, 16),))
    elif html:
        text = unescape(re.sub(b"^&(amp;)+(?=.)", b"&", html).decode("ascii"))
        char = text.encode() if len(text) == 1 and text.isascii() else b"?"
    return b"" if char == b"\\" else char
