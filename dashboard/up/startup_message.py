"""The words at the end of the start: where the portal is, and how to sign in."""

from __future__ import annotations

import asyncio
import http.client
import json

from dashboard.up.install_paths import LOOPBACK, Installation


async def is_portal_ready(place: Installation) -> bool:
    return await asyncio.to_thread(is_readyz_ok, place.port)


def is_readyz_ok(port: int) -> bool:
    """Whether `/readyz` says 200. Asked directly: a proxy of the environment has no part in it."""
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=5)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == http.HTTPStatus.OK
    except OSError:
        return False
    finally:
        connection.close()


def welcome_text(place: Installation, seconds: float) -> str:
    lines = [
        "",
        f"Reelroom is ready after {seconds:.1f} s:  {place.portal_url}",
        *demo_sign_in_lines(place),
        "",
    ]
    return "\n".join([*lines, "Ctrl-C stops everything.", ""])


def demo_sign_in_lines(place: Installation) -> list[str]:
    """One sign-in for each role of the demo team."""
    demo = place.var / "demo.json"
    if not demo.is_file():
        return [
            "",
            "There is no demo team. Make a team: .venv/bin/python manage.py create_team --help",
        ]
    by_role = {
        person["role"]: person for person in reversed(json.loads(demo.read_text())["people"])
    }
    rows = [f"  {p['role']:<10} {p['email']:<32} {p['password']}" for p in by_role.values()]
    return ["", f"Sign in as one of the demo team ({demo} has them all):", *reversed(rows)]
