"""docker-compose.yml: who gets which secret, and what says that a container is well.

There is no Docker here: the commands in the file are run as they stand, in its place.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from pathlib import Path

import psutil
import pytest
import redis
import yaml
from redis.backoff import NoBackoff
from redis.retry import Retry

from dashboard.up import valkey
from dashboard.up.install import ROOT
from tests.servers import wait_until_ready

COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES = COMPOSE["services"]
BACKGROUND = ("worker", "charges", "reads", "slow", "post", "beat")
OURS = ("web", *BACKGROUND, "sandbox")
SECRETS = ("SECRET_KEY", "ENCRYPTION_KEYS", "POSTGRES_PASSWORD", "REDIS_PASSWORD")

ONCE = Retry(NoBackoff(), 0)


def test_the_image_holds_only_what_runs() -> None:
    copied = re.findall(r"^COPY (.+) \S+$", (ROOT / "Dockerfile").read_text(), re.M)
    parts = {part for line in copied for part in line.split()}
    files = {"${LOCK}", "manage.py", "LICENSE", "docs/reference/licences.md"}
    assert parts == files | {"dashboard", "proxyapi", "templates", "static"}
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert {".git", ".env", "var", "tests"} <= set(ignored)


def test_the_sandbox_gets_nothing_of_the_portal() -> None:
    sandbox = SERVICES["sandbox"]
    assert "env_file" not in sandbox
    assert [name for name in sandbox["environment"] if not name.startswith("SANDBOX_")] == []
    assert not [name for name in SECRETS if name in yaml.safe_dump(sandbox)]


def test_each_secret_goes_only_where_it_is_used() -> None:
    given = {
        name: {secret for secret in SECRETS if f"${{{secret}" in yaml.safe_dump(service)}
        for name, service in SERVICES.items()
    }
    both = {"POSTGRES_PASSWORD", "REDIS_PASSWORD"}
    others = {"sandbox": set(), "db": {"POSTGRES_PASSWORD"}, "redis": {"REDIS_PASSWORD"}}
    assert given == dict.fromkeys(("web", *BACKGROUND), both) | others
    assert [name for name, it in SERVICES.items() if "env_file" in it] == ["web", *BACKGROUND]


@pytest.mark.parametrize("name", SERVICES)
def test_each_container_has_a_health_check_and_limits(name: str) -> None:
    service = SERVICES[name]
    assert service["healthcheck"]["test"][0] in ("CMD", "CMD-SHELL")
    assert re.fullmatch(r"\d+[mg]", service["mem_limit"])
    assert service["pids_limit"] > 0


@pytest.mark.parametrize("name", ["web", "worker", "charges", "reads", "slow"])
def test_who_sends_and_who_restores_share_the_charge_log(name: str) -> None:
    """The containers are read-only but for what is mounted (docs/decisions/0016-charge-log.md)."""
    assert SERVICES[name]["volumes"] == ["var:/app/var"]


def test_images_have_exact_versions() -> None:
    (base,) = re.findall(r"^FROM (\S+)", (ROOT / "Dockerfile").read_text(), re.M)
    foreign = [SERVICES[name]["image"] for name in ("db", "redis")]
    for image in (base, *foreign):
        assert re.search(r":\d+\.\d+(\.\d+)?-[a-z]+", image), image
    assert {name for name in SERVICES if "build" in SERVICES[name]} == set(OURS)


def test_only_the_image_of_the_sandbox_holds_the_media() -> None:
    builds = {SERVICES[name]["image"]: SERVICES[name]["build"] for name in OURS}
    media = {"context": ".", "args": {"LOCK": "requirements-media.lock"}}
    assert builds == {"reelroom": ".", "reelroom-sandbox": media}


@pytest.mark.parametrize(("age", "code"), [(0, 0), (50, 0), (70, 1), (None, 1)])
@pytest.mark.parametrize("name", BACKGROUND)
def test_a_worker_is_well_while_its_file_is_young(
    name: str, age: int | None, code: int, tmp_path: Path
) -> None:
    file = tmp_path / "alive"
    if age is not None:
        file.touch()
        os.utime(file, (time.time() - age,) * 2)
    named = SERVICES[name]["environment"]["HEALTH_FILE"]
    command = shell_of(SERVICES[name]["healthcheck"]["test"][-1]).replace(named, str(file))
    assert str(file) in command
    assert subprocess.run(["sh", "-c", command], stderr=subprocess.DEVNULL).returncode == code


def test_redis_wants_its_password_and_shows_it_to_nobody(tmp_path: Path) -> None:
    """The command of the file, with an entrypoint that adds where this one listens."""
    socket, password = tmp_path / "s", "canary0pass0word"
    here = f"--port 0 --unixsocket {socket} --dir {tmp_path}"
    entrypoint = tmp_path / "docker-entrypoint.sh"
    entrypoint.write_text(f'#!/bin/sh\nshift\nexec {valkey.find_valkey_server()} {here} "$@"\n')
    entrypoint.chmod(0o700)
    environ = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "VALKEYCLI_AUTH": password}
    command = [shell_of(word) for word in SERVICES["redis"]["command"]]
    with subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL) as server:
        try:
            known = redis.Redis(unix_socket_path=str(socket), password=password, retry=ONCE)
            wait_until_ready(server, known.ping, redis.ConnectionError)
            with pytest.raises(redis.AuthenticationError):
                redis.Redis(unix_socket_path=str(socket), retry=ONCE).ping()
            assert known.config_get("maxmemory*")["maxmemory-policy"] == "noeviction"
            assert password not in " ".join(psutil.Process(server.pid).cmdline())
        finally:
            server.terminate()
    assert server.returncode == 0, "it is the first process, so it hears that it is to end"


def shell_of(text: str) -> str:
    """As Compose hands it on: two dollars are one."""
    return text.replace("$$", "$")
