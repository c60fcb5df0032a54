"""Which addresses of others are connected to: one function judges those of films and webhooks."""

from __future__ import annotations

from ipaddress import ip_address

from dashboard.shared import outgoing_requests
from proxyapi import media_proxy
from tests.cases import each_case

PRIVATE = [
    *("127.0.0.1", "10.0.0.1", "172.31.0.1", "192.168.0.1", "169.254.169.254", "100.64.0.1"),
    *("0.0.0.0", "224.0.0.1", "240.0.0.1", "255.255.255.255", "192.0.2.1", "198.18.0.1"),  # noqa: S104
    *("::", "::1", "fe80::1", "fc00::1", "ff02::1", "100::1", "2001:db8::1"),
    *("fec0::1", "feff::1"),  # site-local, deprecated
    *("::7f00:1", "::a00:1", "::5db8:d822", "::ffff:0:7f00:1"),  # IPv4 in IPv6, deprecated
    *("::ffff:127.0.0.1", "::ffff:10.0.0.1"),  # IPv4-mapped
    *("64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::7f00:1"),  # NAT64
    *("2002:7f00:1::", "2002:c0a8:1::1"),  # 6to4
    "2001:0:4136:e378:8000:63bf:3fff:fdd2",  # Teredo, of 192.0.2.45
    "5f00::1",  # segments of routers
]
PUBLIC = ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c", "2a00:1450:4001:82a::200e"]
WRAPPED = ["::ffff:93.184.215.14", "64:ff9b::5db8:d70e", "2002:5db8:d70e::1"]


@each_case("address", PRIVATE)
def test_a_private_address_is_none_of_the_open_internet(address: str) -> None:
    assert not media_proxy.is_public_address(ip_address(address))


@each_case("address", [*PUBLIC, *WRAPPED])
def test_a_public_one_is_also_where_another_wraps_it(address: str) -> None:
    assert media_proxy.is_public_address(ip_address(address))


def test_films_and_webhooks_are_judged_by_the_same_function() -> None:
    assert vars(outgoing_requests)["is_public_address"] is media_proxy.is_public_address
