"""References of a clip and frames of a scene as files of a form, and how words are counted."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.sandbox.conftest import SandboxClient
from tests.sandbox.web_server import PNG

KESTREL = {"clip_engine_id": 815}
PROMPT = "a red fox runs through deep snow"
ORDER = {"model": "kestrel", "prompt": PROMPT, "duration": "10", "resolution": "720p"}


def send_form(sandbox: SandboxClient, fields: dict[str, str], **files: Any) -> httpx.Response:
    return sandbox.call("POST", "/v2/text-to-video", data=fields, files=files)


def test_a_picture_of_a_form_becomes_the_first_frame_at_the_price_of_the_estimate(sandbox):
    answer = send_form(sandbox, ORDER, first_frame=("me.png", PNG, "image/png"))
    assert answer.status_code == 202, answer.text
    modifiers = answer.json()["data"]["asset"]["modifiers"]
    assert (modifiers["duration"], modifiers["resolution"]) == (10, "720p")
    assert httpx.URL(modifiers["first_frame"]).path.startswith("/media/")
    priced = sandbox.get(
        "/v2/text-to-video/estimate", params={"model": "kestrel", "duration": 10}
    ).json()
    assert answer.json()["meta"]["credits"]["cost"] == priced["data"]["cost"]


@pytest.mark.parametrize(
    ("name", "content"), [("first_frame", b"no picture"), ("last_frame", b""), ("video", PNG)]
)
def test_a_file_of_another_sort_is_refused_by_its_field_and_costs_nothing(name, content, sandbox):
    before = sandbox.money()["balance"]
    answer = send_form(sandbox, ORDER, **{name: ("me.png", content, "image/png")})
    assert answer.status_code == 422
    assert name in answer.json()["errors"]
    assert sandbox.money()["balance"] == before


def test_a_frame_that_the_model_does_not_take_is_refused(sandbox):
    fields = {**ORDER, "model": "brook-lite", "duration": "4", "resolution": "480p"}
    answer = send_form(sandbox, fields, first_frame=("me.png", PNG, "image/png"))
    assert answer.status_code == 422
    assert "first_frame" in answer.json()["errors"]


@pytest.mark.parametrize(
    ("prompt", "status"),
    [
        ("a red fox runs", 422),
        ("a red fox runs away", 202),
        (" ".join(["fox"] * 1500), 202),
        (" ".join(["fox"] * 1501), 422),
        ("一艘纸船在黎明穿过被淹没的城市广场", 202),
        ("纸船漂走", 422),
    ],
)
def test_words_of_scripts_without_spaces_count_by_their_length(prompt, status, sandbox):
    answer = sandbox.post("/v2/text-to-video", {"model": "brook", "prompt": prompt})
    assert answer.status_code == status


def test_frames_of_a_form_may_be_files(sandbox):
    made = sandbox.post("/v2/text-to-scene", {"mode": "manual", "settings": KESTREL}).json()["data"]
    path = f"/v2/text-to-scene/{made['id']}"
    scene = sandbox.post(f"{path}/scenes", {"raw_video_prompt": "A fox"}).json()["data"]["scenes"][
        0
    ]
    address, file = "https://garden.example.org/media/roof.jpg", ("a.png", PNG, "image/png")
    frames = f"{path}/scenes/{scene['id']}/frames"
    answer = sandbox.call("PUT", frames, files={"first_frame": file}, data={"last_frame": address})
    shown = answer.json()["data"]["scenes"][0]
    assert "/media/" in shown["first_frame"]
    assert shown["last_frame"] == address
    answer = sandbox.call("PUT", frames, files={"first_frame": file}, data={"last_frame": ""})
    assert answer.json()["data"]["scenes"][0]["last_frame"] is None
    wrong = sandbox.call("PUT", frames, files={"first_frame": ("a.txt", b"text", "text/plain")})
    assert (wrong.status_code, list(wrong.json()["errors"])) == (422, ["first_frame"])
