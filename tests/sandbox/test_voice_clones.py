"""Voice clones: the form, slots and their price, and the clones among the voices."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from starlette.datastructures import UploadFile

from proxyapi.sandbox.api import resource_shapes, shapes
from tests.sandbox.conftest import READY_SETTINGS, SandboxClient

WAV = b"RIFF\x24\x00\x00\x00WAVEfmt " + bytes(40)
FORM = {"terms": "1", "name": "Mira", "gender": "female"}


def create(sandbox: SandboxClient, samples: tuple[bytes, ...] = (WAV,), **wanted: str | None):
    form = {name: text for name, text in {**FORM, **wanted}.items() if text is not None}
    files = [("samples[]", (f"{n}.wav", data, "audio/wav")) for n, data in enumerate(samples)]
    return sandbox.call("POST", "/v2/voice-clones", data=form, files=files)


def slots(sandbox: SandboxClient) -> dict[str, Any]:
    found: dict[str, Any] = sandbox.get("/v2/voice-clones/slots").json()["data"]
    return found


def clone(sandbox: SandboxClient, number: int) -> dict[str, Any]:
    found: dict[str, Any] = sandbox.get(f"/v2/voice-clones/{number}").json()["data"]
    return found


def voices(sandbox: SandboxClient) -> list[dict[str, Any]]:
    options = sandbox.get("/v2/faceless/options?only=voices").json()
    found: list[dict[str, Any]] = options["data"]["mandatory"]["voices"]
    return found


def test_a_clone_is_pending_then_processing_then_completed(sandbox):
    answer = create(sandbox, (WAV, WAV, WAV))
    assert answer.status_code == 201
    shape = shapes.Envelope[resource_shapes.CloneShape]
    shape.model_validate(answer.json(), strict=True, extra="forbid")
    number, seen = answer.json()["data"]["id"], []
    for _ in range(4):
        seen.append(clone(sandbox, number)["status"])
        sandbox.advance(5.1)
    assert seen == ["pending", "processing", "processing", "completed"]
    done = clone(sandbox, number)
    shown = sandbox.get(done["preview_url"], headers={"Range": "bytes=0-3"})
    assert (shown.status_code, shown.headers["content-type"]) == (206, "audio/wav")
    assert sandbox.money()["ledger_sum"] == 0


@pytest.mark.parametrize(
    ("wanted", "field"),
    [
        ({"terms": None}, "terms"),
        ({"terms": "0"}, "terms"),
        ({"terms": "false"}, "terms"),
        ({"terms": "maybe"}, "terms"),
        ({"name": None}, "name"),
        ({"name": "  "}, "name"),
        ({"gender": "robot"}, "gender"),
        ({"purchase_addon": "perhaps"}, "purchase_addon"),
        ({"samples": ()}, "samples"),
        ({"samples": (WAV,) * 4}, "samples"),
        ({"samples": (WAV, b"text")}, "samples.1"),
        ({"samples": (b"",)}, "samples.0"),
    ],
)
def test_a_wrong_form_is_422_and_takes_no_slot(sandbox, wanted, field):
    answer = create(sandbox, **wanted)
    assert (answer.status_code, list(answer.json()["errors"])) == (422, [field])
    assert slots(sandbox)["available"] == 1


def test_samples_are_heard_by_their_first_bytes(sandbox):
    sandbox.set(clone_slots=9)
    kinds = (b"ID3\x04", b"\xff\xfb\x90\x00", b"OggS", b"fLaC", b"\0\0\0\x20ftypM4A ")
    for start in kinds:
        assert create(sandbox, (start + bytes(30),)).status_code == 201
    sandbox.set(sample_bytes=10)
    assert create(sandbox).status_code == 422


def test_a_form_without_the_brackets_or_as_json_has_no_samples(sandbox):
    files = [("samples", ("a.wav", WAV, "audio/wav"))]
    answer = sandbox.call("POST", "/v2/voice-clones", data=FORM, files=files)
    assert answer.json()["errors"] == {"samples": ["The samples field is required."]}
    assert sandbox.post("/v2/voice-clones", {**FORM, "samples": []}).status_code == 422


def test_booleans_of_a_form_may_be_digits_only(sandbox):
    sandbox.set(form_booleans="digits", clone_slots=5)
    assert create(sandbox, terms="true").status_code == 422
    assert create(sandbox, purchase_addon="false").status_code == 422
    assert create(sandbox, purchase_addon="0").status_code == 201


def test_all_slots_used_is_a_refusal_unless_one_is_bought(sandbox):
    assert slots(sandbox) == {"available": 1, "can_buy": True, "cost": 50}
    free = create(sandbox, purchase_addon="true").json()
    assert "meta" not in free and slots(sandbox)["available"] == 0
    refused = create(sandbox)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "REACH-PLAN-LIMIT")
    bought = create(sandbox, purchase_addon="true").json()
    resource_shapes.CloneCreatedShape.model_validate(bought, strict=True, extra="forbid")
    assert bought["meta"]["credits"] == {"cost": 50, "remaining": 950}
    assert slots(sandbox)["available"] == 0
    money = sandbox.money()
    assert (money["ledger_sum"], money["balanced"]) == (-50, True)


def test_buying_can_be_closed_or_too_dear(sandbox):
    sandbox.set(clone_slots=0, clone_slots_can_be_bought=False, slots_available="flag")
    assert slots(sandbox) == {"available": False, "can_buy": False, "cost": 50}
    assert create(sandbox, purchase_addon="1").status_code == 403
    sandbox.set(clone_slots_can_be_bought=True)
    sandbox.set(costs={"voice_clone_slot": {"credits": 1001}})
    assert create(sandbox, purchase_addon="1").status_code == 402
    assert sandbox.money()["ledger_sum"] == 0


def test_a_failed_clone_leaves_its_slot(sandbox):
    outcome = {"kind": "voice-clone", "statuses": ["processing", "failed"]}
    sandbox.post("/_sandbox/outcomes", outcome)
    number = create(sandbox).json()["data"]["id"]
    sandbox.advance(30)
    assert clone(sandbox, number)["failure"]["code"] == "CLONE-FAILED"
    assert (clone(sandbox, number)["status"], slots(sandbox)["available"]) == ("failed", 1)
    assert clone(sandbox, number)["preview_url"] is None


def test_a_finished_clone_narrates_its_accounts_videos_and_nobody_elses(sandbox):
    number = create(sandbox).json()["data"]["id"]
    known = len(voices(sandbox))
    sandbox.advance(30)
    own = voices(sandbox)[-1]
    assert len(voices(sandbox)) == known + 1
    assert own == {
        "id": clone(sandbox, number)["voice_id"], "name": "Mira", "language": "English",
        "gender": "female",
    }  # fmt: skip
    assert own["id"] != number
    draft = sandbox.draft(**{**READY_SETTINGS, "voice_id": own["id"]})
    assert sandbox.post(f"/v2/faceless/{draft}/render").status_code == 202
    preview, film = sandbox.maker.films[-2:]
    assert (film["voice_seed"], film["gender"]) == (preview["seed"], "female")
    sandbox.token = sandbox.post("/_sandbox/accounts", {"name": "Otto"}).json()["token"]
    other = sandbox.draft(**{**READY_SETTINGS, "voice_id": own["id"]})
    assert sandbox.post(f"/v2/faceless/{other}/render").json()["message"] == "Voice not found."
    assert sandbox.get(f"/v2/voice-clones/{number}").status_code == 404


def test_a_lost_answer_shows_in_the_slots_and_sent_again_is_a_double_charge(sandbox):
    sandbox.set(clone_slots=0)
    fault = {"match": {"path": "*/voice-clones"}, "when": "after", "action": "close", "times": 1}
    sandbox.post("/_sandbox/faults", fault)
    with pytest.raises((httpx.TransportError, ConnectionResetError)):
        create(sandbox, purchase_addon="true")
    assert sandbox.get("/v2/credits/history").json()["data"][0]["credit_spend"] == "-50"
    sandbox.advance(300)
    assert create(sandbox, purchase_addon="true").status_code == 201
    assert len(sandbox.money()["double_charges"]) == 1


def test_a_restart_keeps_clones_and_bought_slots(sandbox):
    create(sandbox)
    number = create(sandbox, purchase_addon="true").json()["data"]["id"]
    sandbox.world.store.close()
    sandbox.start()
    assert slots(sandbox)["available"] == 0
    sandbox.advance(30)
    assert clone(sandbox, number)["status"] == "completed"


def test_a_charge_is_its_own_requests_though_another_charged_meanwhile(sandbox, monkeypatch):
    """The files of a form are closed after the handler has charged, big ones in a thread."""
    sandbox.set(clone_slots=0)
    path, closed = f"/v2/faceless/{sandbox.draft()}/scripts", UploadFile.close

    async def close_late(self: UploadFile) -> None:
        await sandbox.send("PUT", path, json={"topic": "tides", "duration": 30})
        await closed(self)

    monkeypatch.setattr(UploadFile, "close", close_late)
    sandbox.post("/_sandbox/faults", {
        "match": {"path": "/v2/voice-clones"}, "when": "after", "action": "status",
    })  # fmt: skip
    create(sandbox, purchase_addon="1")
    charged = {line["path"]: line["charge"] for line in sandbox.journal()[1:]}
    assert charged == {path: 4, "/v2/voice-clones": 50}
    made = sandbox.money()["charges"].values()
    assert [(it["credits"], it["answered"]) for one in made for it in one] == [
        (50, False), (4, True),
    ]  # fmt: skip
