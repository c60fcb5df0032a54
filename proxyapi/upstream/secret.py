"""A token in plain text, for the duration of one call.

Contract: printing, formatting, copying or pickling a `Secret` gives a mask or an error; only
`reveal()` returns the text. (Spec, "Authentication" 3: tokens are treated as passwords.)
"""

from __future__ import annotations

import hmac
import re
from typing import NoReturn

from proxyapi.upstream.token_redaction import redact_token

MASK = "Secret(****)"
MAX_TOKEN_CHARS = 512  # characters; the tokens of services of this kind have 40 to 200
MIN_SCRUBBED_CHARS = 8  # characters; a shorter token would match unrelated text


class TokenMalformed(ValueError):
    """The text cannot be a token. `user_message` has the reason and never quotes it."""

    def __init__(self, user_message: str) -> None:
        super().__init__(user_message)
        self.user_message = user_message


class Secret:
    """Wraps one token. Equal secrets compare equal, in constant time."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The token itself: for the header of one call, or for encryption."""
        return self._text

    def scrub(self, body: bytes) -> bytes:
        """`body` with the token redacted, in case an answer quotes it in any escaping."""
        if len(self._text) < MIN_SCRUBBED_CHARS:
            return body
        return redact_token(body, self._text.encode())

    def __repr__(self) -> str:
        return MASK

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return MASK

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        return hmac.compare_digest(self._text.encode(), other._text.encode())

    def __hash__(self) -> int:
        return hash((Secret, self._text))

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("A secret cannot be pickled or copied.")


def clean_token(text: str) -> Secret:
    """The token in pasted text: surrounding blanks are removed, the rest is validated.

    Raises `TokenMalformed` before any of it reaches a header, because the HTTP library quotes an
    illegal header value, including the token, in the text of its exception.
    """
    token = text.strip()
    if not token:
        raise TokenMalformed("The token is missing.")
    if len(token) > MAX_TOKEN_CHARS:
        raise TokenMalformed(
            f"This is too long for a token: the maximum is {MAX_TOKEN_CHARS} characters."
        )
    if re.search(r"[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]", token):
        raise TokenMalformed("This is more than one line. A token is a single line.")
    if re.search(r"\s", token):
        raise TokenMalformed(
            "A token has no spaces inside. Paste the token alone, without the word Bearer."
        )
    if not re.fullmatch(r"[\x21-\x7e]+", token):
        raise TokenMalformed(
            "This contains characters that are not allowed in a token. Copy the token again from "
            "the service."
        )
    return Secret(token)
