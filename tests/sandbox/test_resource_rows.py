"""What an account holds besides videos: saved as it is, the same out and in, hard to break."""

from __future__ import annotations

import json

import pytest

from tests.sandbox.conftest import SandboxClient
from tests.sandbox.test_characters import character, preview, train
from tests.sandbox.test_ideas import discover
from tests.sandbox.test_text_to_video import order
from tests.sandbox.test_voice_clones import create

PATHS = ("/v2/characters", "/v2/voice-clones", "/v2/text-to-video", "/v2/ideas/discover")


def busy(sandbox: SandboxClient) -> None:
    """Some of everything: done, failed, refunded, and in the making."""
    sandbox.set(rate_limit=1000, clone_slots=0, clip_refund_seconds=50)
    for statuses in (["draft", "failed"], ["draft", "processing", "success"]):
        sandbox.post("/_sandbox/outcomes", {"kind": "text-to-video", "statuses": statuses})
        order(sandbox)
        sandbox.advance(5)
    discover(sandbox)
    number = character(sandbox)
    preview(sandbox, number)
    create(sandbox, purchase_addon="true")
    sandbox.advance(30)
    train(sandbox, number)
    order(sandbox)


def test_what_memory_holds_is_what_the_file_holds(sandbox):
    busy(sandbox)
    sandbox.advance(3)
    sandbox.get("/v2/me")
    kept = {
        (kind, row["id"]): row
        for kind, rows in sandbox.world.store.read().items()
        for row in json.loads(rows)
    }
    for kind, table in sandbox.world.tables.items():
        for row in table:
            assert kept.pop((kind, row.id)) == row.model_dump(mode="json")
    assert kept == {}


def test_a_snapshot_put_back_goes_on_as_the_world_did(sandbox):
    busy(sandbox)
    snapshot = sandbox.get("/_sandbox/snapshot").json()
    sandbox.advance(100)
    clips = sorted(clip.status for clip in sandbox.world.clips)
    after = [sandbox.get(path).json()["data"] for path in ("/v2/me", "/v2/ideas")]
    assert sandbox.put("/_sandbox/snapshot", snapshot).status_code == 200
    sandbox.advance(100)
    assert [sandbox.get(path).json()["data"] for path in ("/v2/me", "/v2/ideas")] == after
    assert sorted(clip.status for clip in sandbox.world.clips) == clips
    assert clips == ["failed", "success", "success"]
    money = sandbox.money()
    assert (money["balanced"], len(money["refunds"]), money["double_charges"]) == (True, 1, [])


def test_the_same_seed_and_calls_give_the_same_bodies(sandbox):
    bodies = []
    for _ in range(2):
        sandbox.put("/_sandbox/clock", {"mode": "frozen", "now": "2026-02-01T08:00:00Z"})
        sandbox.reset("paid", seed=11)
        busy(sandbox)
        sandbox.advance(60)
        bodies.append(
            [sandbox.get(path).text for path in ("/v2/ideas", "/v2/faceless/options", "/v2/me")]
            + [clip.model_dump_json() for clip in sandbox.world.clips]
        )
    assert bodies[0] == bodies[1]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("multipart/form-data", b"--x"),
        ("multipart/form-data; boundary=x", b""),
        ("multipart/form-data; boundary=x", b"--x\r\nnonsense"),
        ("multipart/form-data; boundary=x", b'--x\r\nContent-Disposition: form-data; name="a'),
        ("multipart/form-data; boundary=\xff".encode("latin-1"), b"--\xff--"),
        ("application/x-www-form-urlencoded", b"image=%ff&terms=1&=&&name=%00"),
        ("application/json", b'{"model": "brook", "prompt": "\\ud800 a b c d e"}'),
        ("application/json", b'{"keyword": "\\u0000\\u0000", "network": "x"}'),
        ("text/plain", b"\x00" * 1000),
    ],
)
def test_no_form_brings_the_sandbox_down(sandbox, path, kind, body):
    answer = sandbox.call("POST", path, content=body, headers={"Content-Type": kind})
    assert answer.status_code in (200, 400, 422), answer.text
