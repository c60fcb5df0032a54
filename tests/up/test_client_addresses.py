"""Whose address a request counts for, behind uvicorn as `make run` and the image start it."""

from __future__ import annotations

import shlex
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import uvicorn
from django.core.asgi import get_asgi_application
from django.db import connections
from uvicorn.main import main as uvicorn_command

from dashboard.models import Membership
from dashboard.up.__main__ import web_command
from dashboard.up.install_paths import Installation

pytestmark = pytest.mark.django_db(transaction=True)
DOCUMENTED_ATTEMPTS = 5  # docs/security.md: in 5 minutes for a client and address
LIMITED = "Too many wrong passwords."


def own_command(folder: Path) -> list[str]:
    command = web_command(Installation.from_environ({"REELROOM_VAR": str(folder)}))
    return command[command.index("uvicorn") + 1 :]


def image_command(_: Path) -> list[str]:
    command = Path("Dockerfile").read_text().rpartition("exec uvicorn ")[2]
    return shlex.split(command.partition('"]')[0])


@pytest.fixture(params=[own_command, image_command])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The site behind uvicorn with the options of the command, on a free port."""
    options = uvicorn_command.make_context("uvicorn", request.param(tmp_path)).params
    config = uvicorn.Config(
        get_asgi_application(),
        port=0,
        lifespan="off",
        log_config=None,
        proxy_headers=options["proxy_headers"],
        forwarded_allow_ips=options["forwarded_allow_ips"],
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    patience = threading.Event()
    while not server.started:
        patience.wait(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()
    connections.close_all()


def test_wrong_passwords_are_limited_whatever_address_each_names(
    site: str, mira: Membership
) -> None:
    with httpx.Client(base_url=site, timeout=300) as browser:
        browser.get("/accounts/login/")
        form = {"login": mira.user.email, "csrfmiddlewaretoken": browser.cookies["csrftoken"]}
        pages = [
            browser.post(
                "/accounts/login/",
                data={**form, "password": "not the lantern"},
                headers={"X-Forwarded-For": f"198.51.100.{number}", "Referer": site},
            )
            for number in range(DOCUMENTED_ATTEMPTS + 1)
        ]
    assert [LIMITED in page.text for page in pages] == [False] * DOCUMENTED_ATTEMPTS + [True]
