"""Web addresses that members give to the service to fetch: refused here if they are visibly not
public, before anything is sent."""

from __future__ import annotations

from ipaddress import ip_address

import httpx

from proxyapi.media_proxy import is_public_address

MAX_ADDRESS_LENGTH = 2048
PRIVATE_NAMES = ("localhost", ".localhost", ".local", ".internal", ".lan", ".home.arpa")
NOT_AN_ADDRESS = "Enter an address that starts with https://."
HAS_CREDENTIALS = "Leave out the user name and password: the service would see them."
NOT_PUBLIC = (
    "This address is only reachable inside a network. The service fetches it from outside; use a "
    "public address, or upload the file."
)


def find_address_problem(address: str) -> str:
    """Return why the service could not fetch this address, as a sentence; empty if it may. A name
    is not looked up, so one that leads to a private address is left to the service."""
    try:
        url = httpx.URL(address)
    except (httpx.InvalidURL, ValueError):
        return NOT_AN_ADDRESS
    if url.scheme not in ("http", "https") or not url.host:
        return NOT_AN_ADDRESS
    if url.userinfo:
        return HAS_CREDENTIALS
    host = url.host.rstrip(".").lower()
    try:
        return "" if is_public_address(ip_address(host)) else NOT_PUBLIC
    except ValueError:
        pass
    labels = host.split(".")
    # Browsers and resolvers also read numbers such as 2130706433 and 0x7f.1 as addresses.
    is_number = labels[-1].isdigit() or labels[-1].startswith("0x")
    is_private = host.endswith(PRIVATE_NAMES) or len(labels) == 1
    return NOT_PUBLIC if is_number or is_private else ""
