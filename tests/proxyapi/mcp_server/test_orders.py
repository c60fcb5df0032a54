"""What an agent may order, and what becomes of an order that is repeated."""

from __future__ import annotations

from typing import Any

import pytest

from proxyapi.models import Charge, Job
from tests.proxyapi.mcp_server.conftest import FILM, SETTINGS, Agent, finish_render
from tests.sandbox.conftest import SandboxClient

VOICE = {"voice_id": 2114}
TOPIC = {"kind": "video", "topic": "why the sea is salty", "settings": SETTINGS}
LINK = {"kind": "video", "link": "https://garden.example.org/stories/city-bees", "settings": VOICE}
CLIP = {
    "kind": "clip",
    "prompt": "a lighthouse in a storm at night",
    "settings": {"model": "brook", "duration": 5},
}
SCENES = [{"prompt": "a lighthouse in a storm", "seconds": 5}, {"prompt": "calm", "seconds": 5}]
STORYBOARD = {"kind": "storyboard", "scenes": SCENES, "title": "Storm"}


@pytest.mark.parametrize("order", [TOPIC, LINK])
def test_a_script_is_written_first_and_its_render_is_quoted_with_it(
    agent: Agent, sandbox: SandboxClient, order: dict[str, Any]
) -> None:
    first = agent.call("quote", **order)
    assert first["status"] == "quoted", first
    assert first["quote"]["pays_for"] == "script"
    written = agent.pay(first["quote"])
    assert (written["status"], written["quote"]["pays_for"]) == ("quoted", "render"), written
    assert len(written["script"]) > 40
    assert written["charge"]["state"] == "confirmed"
    # Whoever forgot all that begins again, and goes on where it stands.
    again = agent.call("quote", **order)
    assert again["quote"]["quote_id"] == written["quote"]["quote_id"]
    assert agent.call("wait", id=written["charge"]["charge_id"])["quote"] == again["quote"]
    assert agent.pay(again["quote"])["status"] == "rendering"
    finish_render(sandbox, str(Job.objects.get().pk))
    end = agent.call("quote", **order)
    assert (end["status"], end["job"]["state"]) == ("made", "completed")
    assert Charge.objects.count() == 2


@pytest.mark.parametrize("order", [CLIP, STORYBOARD])
def test_clips_and_storyboards_are_one_charge(agent: Agent, order: dict[str, Any]) -> None:
    quoted = agent.call("quote", **order)
    assert quoted["status"] == "quoted", quoted
    made = agent.pay(quoted["quote"])
    assert made["status"] == "rendering", made
    assert made["charge"]["cost"] == str(Charge.objects.get().cost)
    assert agent.call("quote", **order)["status"] == "made"
    another = agent.call("quote", **order, copy=2)
    assert another["status"] == "quoted"
    assert agent.pay(another["quote"])["status"] == "rendering"
    assert Charge.objects.count() == Job.objects.count() == 2


@pytest.mark.parametrize(
    ("order", "said"),
    [
        ({"kind": "video"}, "needs a script, or a topic, or a link"),
        ({**TOPIC, "script": "Tea."}, "needs a script, or a topic, or a link"),
        ({**FILM, "settings": VOICE}, "find_options for genres"),
        ({**FILM, "settings": {**SETTINGS, "voice": 1}}, "no setting 'voice'"),
        ({"kind": "clip", "prompt": "a storm at night in spring"}, "settings with model"),
        ({"kind": "storyboard"}, "needs scenes"),
    ],
)
def test_an_order_that_lacks_something_is_told_what(
    agent: Agent, order: dict[str, Any], said: str
) -> None:
    result = agent.result("quote", **order)
    assert result.is_error
    assert said in result.structured_content["message"]
    assert not Job.objects.exists()


def test_the_words_of_the_service_are_data(agent: Agent) -> None:
    result = agent.result("quote", **{**FILM, "settings": {**SETTINGS, "font": "no such font"}})
    assert result.is_error
    error = result.structured_content["error"]
    assert (error["code"], "font" in error["service_fields"]) == ("SERVICE-REFUSED", True)
    assert "font" not in result.structured_content["message"]


def test_options_are_short_and_can_be_searched(agent: Agent) -> None:
    groups = agent.call("find_options")["options"]["groups"]
    assert groups["voices"] > 5
    found = agent.call("find_options", group="voices", search="german")["options"]["voices"]
    assert {voice["language"] for voice in found} == {"German"}
    assert agent.call("find_options", group="clip_models", search="brook")["options"]
    assert agent.result("find_options", group="nonsense").is_error
