"""Each row of the table of charges: what is done costs what the row says."""

from __future__ import annotations

import httpx

from tests.contract import staging
from tests.contract.scenarios import ScenarioTable
from tests.sandbox.conftest import READY_SETTINGS, SandboxClient

CHARGES = ScenarioTable()


def cost(answer: httpx.Response) -> int:
    assert answer.status_code < 300, answer.text
    return int(answer.json()["meta"]["credits"]["cost"])


def fail(sandbox: SandboxClient, kind: str) -> None:
    """Have the next job of a kind fail."""
    wanted = {"kind": kind, "statuses": ["processing", "failed"]}
    assert sandbox.post("/_sandbox/outcomes", wanted).status_code < 300


@CHARGES.row("scrape-images")
def scraping_images_is_free(sandbox: SandboxClient) -> None:
    for surface in ("faceless", "url-to-video"):
        path = f"/v2/{surface}/{sandbox.draft(type='url-based')}/scrape-images"
        assert sandbox.post(path, {"url": staging.PAGE}).status_code == 200
    assert sandbox.money()["charges"] == {}


@CHARGES.row("scrape-script, PUT scripts")
def a_script_costs_the_same_however_it_is_made(sandbox: SandboxClient) -> None:
    sandbox.set(costs={"content_prompt_requested": {"credits": 7}})
    page = {"url": staging.PAGE, "duration": 30}
    for surface in ("faceless", "url-to-video"):
        path = f"/v2/{surface}/{sandbox.draft(type='url-based')}"
        assert cost(sandbox.post(f"{path}/scrape-script", page)) == 7
        assert cost(sandbox.put(f"{path}/scripts", staging.SCRIPT)) == 7
    costs = staging.response_data(sandbox.get("/v2/credits/costs"))
    assert costs["content_prompt_requested"]["credits"] == 7


@CHARGES.row("faceless render, retry, export")
def a_render_costs_about_its_estimate_and_again_when_it_is_retried(sandbox: SandboxClient) -> None:
    sandbox.set(failed_render_refunds=False)  # whether it is refunded, is not shown
    number = sandbox.draft(**READY_SETTINGS | {"script": "word " * 1000, "image_engine_id": None})
    path = f"/v2/faceless/{number}"
    about = staging.response_data(sandbox.get(f"{path}/estimate"))
    fail(sandbox, "faceless")
    price = cost(sandbox.post(f"{path}/render"))
    assert abs(about["cost"] - price) <= 0.09 * price + 1
    assert about["available"] == 1000
    sandbox.advance(600)
    assert sandbox.video(number)["status"] == "failed"
    assert sandbox.money()["balance"] == 1000 - price
    assert cost(sandbox.post(f"{path}/retry")) == price
    sandbox.advance(600)
    sandbox.set(costs={"faceless_export": {"credits": 5, "free": 0}})
    assert cost(sandbox.post(f"{path}/export")) == 5


@CHARGES.row("text-to-video create")
def a_clip_costs_exactly_its_estimate_and_nothing_when_it_fails(sandbox: SandboxClient) -> None:
    models = staging.response_data(sandbox.get("/v2/text-to-video/models"))
    assert min(rate(it) for it in models) == 0.68 and max(rate(it) for it in models) == 12.16
    for model in models:
        wanted = {"model": model["slug"]}
        for name in ("image", "first_frame"):
            if model["modifiers"].get(name, {}).get("required"):
                wanted[name] = "https://example.com/frame.png"
        exact = staging.response_data(sandbox.get("/v2/text-to-video/estimate", params=wanted))[
            "cost"
        ]
        fail(sandbox, "text-to-video")
        answer = sandbox.post("/v2/text-to-video", {**wanted, "prompt": staging.PROMPT})
        assert cost(answer) == exact
        sandbox.advance(120)
        asset = staging.response_data(
            sandbox.get(f"/v2/text-to-video/{staging.response_data(answer)['asset']['id']}")
        )
        assert asset["asset"]["status"] == "failed"
    money = sandbox.money()
    assert money["balance"] == money["opening"] and len(money["refunds"]) == len(models)


def rate(model: dict[str, list[dict[str, float]]]) -> float:
    rates = [entry["credits_per_second"] for entry in model["cost"]]
    return min(rates) if min(rates) < 1 else max(rates)


@CHARGES.row("ideas discover")
def a_fruitful_search_costs_15_each_time(sandbox: SandboxClient) -> None:
    wanted = {"keyword": "sourdough", "network": "youtube"}
    assert [cost(sandbox.post("/v2/ideas/discover", wanted)) for _ in range(2)] == [15, 15]
    sandbox.set(fruitless_keywords=["emptiness"])
    fruitless = sandbox.post("/v2/ideas/discover", {**wanted, "keyword": "emptiness"})
    assert staging.response_data(fruitless) == []
    assert len(staging.response_data(sandbox.get("/v2/ideas", params=wanted))) > 0
    assert sandbox.money()["balance"] == 970


@CHARGES.row("character train")
def training_costs_10(sandbox: SandboxClient) -> None:
    places = staging.previewed(sandbox)
    body = places["sent"]["json"]
    assert cost(sandbox.post(f"/v2/characters/{places['id']}/train", body)) == 10


@CHARGES.row("voice clone slot purchase")
def a_slot_costs_what_the_slots_endpoint_says(sandbox: SandboxClient) -> None:
    sandbox.set(costs={"voice_clone_slot": {"credits": 35}}, clone_slots=1)
    slots = staging.response_data(sandbox.get("/v2/voice-clones/slots"))
    assert slots == {"available": 1, "can_buy": True, "cost": 35}
    staging.clone(sandbox)
    assert sandbox.money()["balance"] == 1000
    assert staging.response_data(sandbox.get("/v2/voice-clones/slots"))["available"] == 0
    refused = sandbox.call("POST", "/v2/voice-clones", **staging.clone_form())
    assert refused.status_code in (403, 422) and sandbox.money()["balance"] == 1000
    form = staging.clone_form(purchase_addon="true")
    assert cost(sandbox.call("POST", "/v2/voice-clones", **form)) == 35
