"""One form for an e-mail address, so that two spellings of one mailbox are one address here.

Every address that is stored, looked up or counted passes here. The stored form is ASCII: NFKC,
lower case, the domain as in DNS ("xn--bcher-kva.example"). A character that nobody sees makes none,
nor does a letter that equals an ASCII one only without case (U+0130 in a regular expression).
"""

from __future__ import annotations

import unicodedata

import idna
from django.core.exceptions import ValidationError
from django.core.validators import validate_email

MAX_ADDRESS_CHARS = 254


def parse_address(text: str) -> str:
    """Return the stored form of an address; "" if the text is none."""
    typed = unicodedata.normalize("NFKC", text.strip())
    local, _, domain = typed.rpartition("@")
    if not typed.isprintable() or not local.isascii():
        return ""
    address = f"{local.lower()}@{ascii_domain(domain)}"
    try:
        validate_email(address)
    except ValidationError:
        return ""
    return address if len(address) <= MAX_ADDRESS_CHARS else ""


def address_key(text: str) -> str:
    """Return what a typed address is looked up and counted by: its stored form, or the text itself
    in lower case, which no stored address equals."""
    return parse_address(text) or text.lower()[:MAX_ADDRESS_CHARS]


def ascii_domain(text: str) -> str:
    """Return a domain in ASCII and lower case; "" for one that cannot be written so."""
    try:
        return idna.encode(text, uts46=True).decode().lower()
    except (idna.IDNAError, UnicodeError):
        return ""
