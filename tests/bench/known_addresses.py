"""`make bench`: whether the time of an answer says that an address has an account.

A sign-in with a wrong password, a forgotten password and the link of an invitation, for an address
with an account and for one without, in turn, each from a client of its own.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import httpx

from dashboard.up import valkey
from tests.bench.address_seed import KNOWN, UNKNOWN, join_path
from tests.bench.streams import serve_seeded, web_environment

ROUNDS = 40
WARM_UPS = 3
REQUEST_TIMEOUT_S = 60.0
MAX_DIFFERENCE_MS, MAX_DIFFERENCE_SHARE = 5.0, 0.1  # of the medians; the larger of both counts
SIGN_IN, RESET = "/accounts/login/", "/accounts/password/reset/"
clients = itertools.count()


def main(folder: Path) -> bool:
    """Print the medians; whether the two of each kind differ as little as wanted."""
    folder = folder / "addresses"
    environ = web_environment(folder, folder / valkey.SOCKET_NAME) | {"TRUSTED_PROXIES": "1"}
    seed = ("tests.bench.address_seed", str(WARM_UPS + ROUNDS))
    with (
        serve_seeded(folder, environ, *seed) as (_, port, _, _),
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=REQUEST_TIMEOUT_S) as http,
    ):
        token = http.get(SIGN_IN).cookies["csrftoken"]

        def sign_in(address: str) -> None:
            form = {"login": address, "password": "not the lantern"}
            assert "is wrong" in post(http, SIGN_IN, token, form).text

        def forget_password(address: str) -> None:
            assert post(http, RESET, token, {"email": address}).status_code == 302

        def open_invitation(address: str) -> None:
            headers = client_headers()
            assert http.get(join_path(address), headers=headers).status_code == 302
            assert "Password" in http.get("/join/", headers=headers).text

        acts = {"sign-in": sign_in, "reset": forget_password, "invitation": open_invitation}
        held = [print_medians(name, *measure(act)) for name, act in acts.items()]
    return all(held)


def post(http: httpx.Client, path: str, token: str, form: dict[str, str]) -> httpx.Response:
    return http.post(path, data={**form, "csrfmiddlewaretoken": token}, headers=client_headers())


def client_headers() -> dict[str, str]:
    """The headers of a client with an address of its own."""
    number = next(clients)
    return {"X-Forwarded-For": f"198.18.{number // 250}.{number % 250 + 1}"}


def measure(act: Callable[[str], None]) -> tuple[list[float], list[float]]:
    """Milliseconds for addresses with an account and for those without."""
    known, unknown = list[float](), list[float]()
    for number in range(WARM_UPS + ROUNDS):
        for address, times in ((KNOWN, known), (UNKNOWN, unknown)):
            began = time.perf_counter()
            act(address.format(number=number))
            times.append(1000 * (time.perf_counter() - began))
    return known[WARM_UPS:], unknown[WARM_UPS:]


def print_medians(name: str, known: list[float], unknown: list[float]) -> bool:
    first, second = statistics.median(known), statistics.median(unknown)
    wanted = max(MAX_DIFFERENCE_MS, MAX_DIFFERENCE_SHARE * first)
    holds = abs(first - second) <= wanted
    print(
        f"{name}, address with an account: median {first:.1f} ms, without: {second:.1f} ms, of "
        f"{len(known)} each; wanted: a difference of at most {wanted:.1f} ms: "
        f"{'ok' if holds else 'FALLS SHORT'}\n",
        flush=True,
    )
    return holds
