"""10,000 tokens are sealed again under traffic, by a command that is killed on its way."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

import pytest

from proxyapi.credentials import encryption, token_vault
from proxyapi.models import Token
from proxyapi.upstream.secret import Secret
from tests.drills import portal_commands
from tests.drills.figures import Figures
from tests.factories import AccountFactory, UserFactory
from tests.sandbox.test_restart import SandboxProcess

TOKENS = int(os.environ.get("DRILL_TOKENS", "10000"))
KNOWN = 20  # of them, the sandbox knows
KILLS = 5
RATE = 50.0  # openings a second, of three processes together
KEPT = 0.8  # of them, at least, while the tokens are sealed again beside them
OLD, NEW = (
    f"old:{encryption.generate_encryption_key()}",
    f"new:{encryption.generate_encryption_key()}",
)
ROTATE = ("manage.py", "rotate_keys")
READER = ("-m", "tests.drills.token_reader", str(RATE / 3), str(KNOWN))


class RotationRuns(NamedTuple):
    """Of all runs of the command; `left`: tokens under the old key before the last one."""

    last: subprocess.CompletedProcess[str]
    seconds: list[float]
    left: int


@pytest.fixture
def server(tmp_path: Any) -> Iterator[SandboxProcess]:
    made = SandboxProcess(tmp_path)
    try:
        made.start()
        made.call("PUT", "/_sandbox/settings", json={"rate_limit": 10**9})
        yield made
    finally:
        made.kill()


@pytest.mark.django_db(transaction=True)
def test_ten_thousand_tokens_change_their_key_under_traffic(
    server: SandboxProcess, settings: Any
) -> None:
    figures = Figures("rotation")
    chance = Random(figures.seed)  # noqa: S311
    settings.ENCRYPTION_KEYS = OLD
    settings.VIDEO_API_BASE_URL = f"http://127.0.0.1:{server.port}/v2"
    plant_tokens(server)
    turn = rotate_under_traffic(figures, chance)
    figures.report(
        f"{TOKENS - count_under_key(NEW)} of {TOKENS} tokens under the old key "
        f"({TOKENS - turn.left} were done when {KILLS} runs were killed) {turn.last.stderr[-300:]}",
        "0, and a killed run goes on where it stopped",
        holds=turn.last.returncode == 0
        and count_under_key(NEW) == TOKENS
        and 0 < turn.left < TOKENS,
    )
    figures.report(
        f"all runs took {sum(turn.seconds):.1f} s, the {KILLS} that were killed "
        f"{sum(turn.seconds[:-1]):.1f} s of them",
        "at most 60 s",
        holds=sum(turn.seconds) <= 60 and len(turn.seconds) == KILLS + 1,
    )
    alone = portal_commands.run_program(
        "manage.py", "check", "--database", "default", ENCRYPTION_KEYS=NEW
    )
    figures.report(
        f"the check without the old key exits with {alone.returncode} {alone.stderr[-300:]}",
        "0: it can be taken out",
        holds=alone.returncode == 0,
    )
    figures.close()


def rotate_under_traffic(figures: Figures, chance: Random) -> RotationRuns:
    """As a deployment rolls: the new key comes behind the old one first, then before it."""
    both, turned = f"{OLD},{NEW}", f"{NEW},{OLD}"
    readers = [read_tokens(keys) for keys in (both, turned, turned)]
    begun = time.monotonic()
    killed = [run_and_kill_rotation(chance.uniform(0.0, 0.5), turned) for _ in range(KILLS)]
    left, again = count_under_key(OLD), time.monotonic()
    last = portal_commands.run_program(*ROTATE, ENCRYPTION_KEYS=turned)
    end = time.monotonic()
    told = [wait_for_reader(reader) for reader in readers]
    report_pace(figures, told, begun, end)
    alone = read_tokens(NEW)
    time.sleep(2)  # seconds of traffic on the new key alone
    told.append(wait_for_reader(alone))
    opened, called = sum(len(one["opened"]) for one in told), sum(one["called"] for one in told)
    failed = [name for one in told for name in one["failed"]]
    figures.report(
        f"{len(failed)} of {opened} openings failed, {called} of them calls {set(failed) or ''}",
        "0 while three processes with mixed key rings work",
        holds=not failed and called > 0,
    )
    return RotationRuns(last, [*killed, end - again], left)


def report_pace(figures: Figures, told: list[dict[str, Any]], begun: float, end: float) -> None:
    """Only what was opened between the first run's beginning and the last one's end counts."""
    opened, seconds = sum(begun <= at <= end for one in told for at in one["opened"]), end - begun
    figures.report(
        f"{opened} openings in the {seconds:.0f} s of it, {opened / seconds:.1f} a second",
        f"{RATE:.0f} a second, at least {KEPT * RATE:.0f}",
        holds=opened >= KEPT * RATE * seconds,
    )


def read_tokens(keys: str) -> subprocess.Popen[str]:
    reader = portal_commands.start_program(*READER, ENCRYPTION_KEYS=keys)
    assert reader.stdout is not None
    assert reader.stdout.readline() == "ready\n"
    return reader


def plant_tokens(server: SandboxProcess) -> None:
    """The tokens that the sandbox knows first, then the others."""
    made = server.call(
        "POST", "/_sandbox/accounts", json={"name": "Canaries", "subscription": "paid"}
    )
    account = f"/_sandbox/accounts/{made.json()['account_id']}/tokens"
    real = [server.call("POST", account, json={}).json()["token"] for _ in range(KNOWN)]
    mine, owner = AccountFactory(), UserFactory()
    rows = []
    for number in range(TOKENS):
        token = Token(tenant=mine.tenant, account=mine, owner=owner)
        value = real[number] if number < KNOWN else f"sbx_{token.pk}"
        token_vault.encrypt_token_into(token, Secret(value))
        rows.append(token)
    Token.objects.bulk_create(rows, batch_size=500)


def run_and_kill_rotation(seconds: float, keys: str) -> float:
    """Begin a rotation and kill it so long after its first change, unless it ends before.

    Answers the seconds that it ran.
    """
    before, begun = count_under_key(NEW), time.monotonic()
    with portal_commands.start_program(*ROTATE, ENCRYPTION_KEYS=keys) as process:
        while process.poll() is None and count_under_key(NEW) == before:
            time.sleep(0.02)
        time.sleep(seconds)
        process.kill()
        process.communicate()
    return time.monotonic() - begun


def count_under_key(key: str) -> int:
    name = key.partition(":")[0]
    blobs = Token.objects.values_list("ciphertext", flat=True).iterator()
    return sum(encryption.envelope_key_id(bytes(blob)) == name for blob in blobs)


def wait_for_reader(reader: subprocess.Popen[str]) -> dict[str, Any]:
    out, err = reader.communicate(timeout=60)
    assert reader.returncode == 0, err[-2000:]
    return dict(json.loads(out.splitlines()[-1]))
