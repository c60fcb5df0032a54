"""Domains of e-mail addresses: those that a team allows, as written and as stored.

A domain is stored in ASCII and lower case ("xn--bcher-kva.example") and shown as people write it. A
subdomain is another domain.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection

import idna

from dashboard.models.email_address import ascii_domain
from proxyapi.refusals import Refusal

MAX_DOMAIN_CHARS = 253
LABEL_RE = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
NOT_A_DOMAIN = "This is not a domain. Enter one such as northlight.example."
ONLY_THE_PART_AFTER_AT = "Enter only what follows the @, such as {domain}."
NO_WILDCARD = "A subdomain is a domain of its own. Enter each, without *."
NO_IP_ADDRESS = "Enter a domain, not an IP address."


def parse_domain(text: str) -> str:
    """Return the stored form of a domain as typed, which may begin with "@". Raises `Refusal`."""
    typed = text.strip().removeprefix("@").rstrip(".").strip()
    if "@" in typed:
        raise Refusal(ONLY_THE_PART_AFTER_AT.format(domain=typed.rpartition("@")[2][:80]))
    if "*" in typed:
        raise Refusal(NO_WILDCARD)
    if is_ip_address(typed):
        raise Refusal(NO_IP_ADDRESS)
    domain = ascii_domain(typed)
    labels = domain.split(".")
    if len(labels) < 2 or len(domain) > MAX_DOMAIN_CHARS or labels[-1].isdigit():
        raise Refusal(NOT_A_DOMAIN)
    if not all(map(LABEL_RE.fullmatch, labels)):
        raise Refusal(NOT_A_DOMAIN)
    return domain


def is_ip_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text.strip("[]"))
    except ValueError:
        return False
    return True


def display_domain(domain: str) -> str:
    """Return a stored domain as people write it."""
    try:
        return idna.decode(domain)
    except (idna.IDNAError, UnicodeError):
        return domain


def address_domain(address: str) -> str:
    """Return the stored form of an address's domain; "" for one without."""
    _, at, domain = address.rpartition("@")
    return ascii_domain(domain.strip().rstrip(".")) if at else ""


def is_address_allowed(address: str, domains: Collection[str]) -> bool:
    """Whether a team with these stored domains accepts the address; without domains any."""
    return not domains or address_domain(address) in domains
