"""Scraping: what is read, what never is, what it costs, and the pool that all share."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from proxyapi.sandbox.scraping import addresses, articles, fetch
from tests.sandbox.web_server import PNG, PageServer

BEES = "https://garden.example.org/stories/city-bees"


@pytest.fixture
def site():
    made = PageServer()
    yield made
    made.close()


@pytest.fixture
def draft_path(sandbox):
    """The path of a url-based draft."""
    sandbox.set(rate_limit=1000, scraping_pool=1000)
    return f"/v2/faceless/{sandbox.draft(type='url-based')}"


def test_images_of_an_article_are_attached_in_its_order_for_nothing(sandbox, draft_path):
    answer = sandbox.post(f"{draft_path}/scrape-images", {"url": BEES})
    assert answer.status_code == 200
    assets = answer.json()["data"]["assets"]
    assert [it["position"] for it in assets] == [1, 2, 3]
    shown = articles.all_pages()["garden.example.org/stories/city-bees"].pictures
    assert [it["source_url"] for it in assets] == [it.url for it in shown]
    assert sandbox.get(assets[0]["url"]).headers["content-type"].startswith("image/")
    assert sandbox.money()["charges"] == {}


def test_the_documentation_names_the_articles():
    text = (Path(__file__).parents[2] / "docs" / "sandbox.md").read_text()
    assert [address for address in articles.all_pages() if f"`{address}`" not in text] == []


def test_another_scrape_takes_the_place_of_the_first(sandbox, draft_path):
    first = sandbox.post(f"{draft_path}/scrape-images", {"url": BEES}).json()["data"]["assets"]
    again = sandbox.post(
        f"{draft_path}/scrape-images",
        {"url": "http://journal.example.com/coast/the-last-lighthouse-keeper"},
    ).json()["data"]["assets"]
    assert len(again) == 4
    assert {it["id"] for it in first}.isdisjoint(it["id"] for it in again)
    assert sandbox.get(first[0]["url"]).status_code == 404


def test_a_scraped_script_charges_what_a_written_one_does(sandbox, draft_path):
    sent = {"url": BEES, "duration": 60, "style": "story", "tone": "calm", "language": "English"}
    answer = sandbox.post(f"{draft_path}/scrape-script", sent)
    assert (answer.status_code, answer.json()["meta"]["credits"]["cost"]) == (200, 4)
    data = answer.json()["data"]
    assert "Tomas Iversen" in data["script"]
    assert (data["title"], data["topic"]) == ("Why bees do better in the city",) * 2
    (entry,) = sandbox.get("/v2/credits/history").json()["data"]
    assert (entry["content_type"], entry["credit_spend"]) == ("content-prompt", "-4")


def test_a_url_based_video_is_made_of_the_pages_pictures(sandbox, draft_path):
    ready = {"script": "Bees.", "voice_id": 2114}
    sandbox.patch(draft_path, ready)
    refused = sandbox.post(f"{draft_path}/render")
    assert (refused.status_code, list(refused.json()["errors"])) == (422, ["assets"])
    sandbox.post(f"{draft_path}/scrape-images", {"url": BEES})
    assert sandbox.post(f"{draft_path}/render").status_code == 202
    film = sandbox.maker.films[-1]
    assert (film["kind"], film["manner"], film["colour"]) == ("cuts", "page", "c98a1b")
    assert [it["still"]["text"][:5] for it in film["pictures"]] == ["A bee", "Lime ", "Honey"]


REFUSED = [
    *(f"https://{host}/watch" for host in sorted(addresses.SOCIAL)),
    "https://www.youtube.com/watch?v=1",
    "https://m.tiktok.com./@x",
    "https://YOUTU.BE/x",
]
UNPARSEABLE = [
    "file:///etc/passwd",
    "ftp://example.com/",
    "gopher://127.0.0.1:6379/_INFO",
    "javascript:alert(1)",
    "//example.com",
    "example.com",
    "http://",
    "http://[::1",
    "http://127.0.0.1:99999/",
    "http://user:word@127.0.0.1/",
    "http://example.com@127.0.0.1/",
    "http://127.0.0.1 /",
    "http://127.0.0.1\\@example.com/",
    "http://127.0.0.1/\r\nHost: x",
    "x" * 2049,
]
NEVER_FETCHED = [
    "http://169.254.169.254/latest/meta-data/",
    "http://10.0.0.1/",
    "http://192.168.1.1/",
    "http://172.16.0.1/",
    "http://100.64.0.1/",
    "http://0.0.0.0/",
    "http://0/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0177.0.0.1/",
    "http://127.1/",
    "http://127.0.0.1.nip.io/",
    "http://localtest.me/",
    "http://localhost.example.dev/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:10.0.0.1]/",
    "http://[fe80::1%25eth0]/",
    "http://[fd00::1]/",
    "http://[::]/",
    "http://metadata.google.internal/",
    "http://127.0.0.1:0/",
    "https://127.0.0.1/",
    "http://１２７.0.0.1/",
    "http://ⓛocalhost/",
    "https://intranet/",
    "https://www.nasa.gov/",
    "https://example.com/no-such-page",
]


@pytest.mark.parametrize("url", [*REFUSED, *UNPARSEABLE, *NEVER_FETCHED])
def test_these_are_422_and_the_network_is_not_touched(sandbox, draft_path, url, monkeypatch):
    def touched(*_, **__):
        raise AssertionError(f"{url} was looked up")

    monkeypatch.setattr(socket, "create_connection", touched)
    monkeypatch.setattr(socket, "getaddrinfo", touched)
    for path, more in (("scrape-images", {}), ("scrape-script", {"duration": 30})):
        answer = sandbox.post(f"{draft_path}/{path}", {"url": url, **more})
        assert (answer.status_code, list(answer.json()["errors"])) == (422, ["url"])
    assert sandbox.money()["charges"] == {}


def test_a_page_on_loopback_is_fetched_with_its_pictures(sandbox, draft_path, site):
    for url in (site.url("/article"), site.url("/moved"), site.url("/odd", "localhost")):
        answer = sandbox.post(f"{draft_path}/scrape-images", {"url": url})
        assets = answer.json()["data"]["assets"]
        assert [it["source_url"].rpartition("/")[2] for it in assets] == ["fox.png", "second.png"]
        assert assets[0]["text"] == "A fox in the forest"
        assert sandbox.get(assets[0]["url"]).content == PNG
    script = sandbox.post(
        f"{draft_path}/scrape-script", {"url": site.url("/article"), "duration": 30}
    )
    data = script.json()["data"]
    assert data["title"] == "Foxes at night"
    assert "A fox leaves its den" in data["script"]
    assert "stolen" not in data["script"]
    assert "Home, about us" not in data["script"]


@pytest.mark.parametrize(
    "path",
    [
        "/gone",
        "/error",
        "/empty",
        "/file",
        "/huge",
        "/away",
        "/outside",
        "/loop",
        "/plain",
        "/reel",
    ],
)
def test_what_is_no_page_with_pictures_is_422(sandbox, draft_path, site, path):
    answer = sandbox.post(f"{draft_path}/scrape-images", {"url": site.url(path)})
    assert (answer.status_code, list(answer.json()["errors"])) == (422, ["url"])


def test_a_page_without_images_may_be_no_error(sandbox, draft_path, site):
    sandbox.set(page_without_images="empty")
    answer = sandbox.post(f"{draft_path}/scrape-images", {"url": site.url("/plain")})
    assert (answer.status_code, answer.json()["data"]["assets"]) == (200, [])


def test_a_bottomless_page_is_none(sandbox, draft_path, site):
    answer = sandbox.post(f"{draft_path}/scrape-script", {"url": site.url("/deep"), "duration": 30})
    assert answer.status_code == 422


def test_loopback_can_be_closed(sandbox, draft_path, site):
    sandbox.set(loopback_pages="refused")
    answer = sandbox.post(f"{draft_path}/scrape-images", {"url": site.url("/article")})
    assert (answer.status_code, site.asked) == (422, [])


def test_a_server_that_drips_does_not_hold_a_thread(sandbox, draft_path, monkeypatch):
    monkeypatch.setattr(fetch, "FETCH_TIMEOUT_S", 0.3)
    ended = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip() -> None:
            line, _ = server.accept()
            with line, suppress(OSError):
                while not ended.wait(0.02):
                    line.sendall(b"H")

        dripping = threading.Thread(target=drip)
        dripping.start()
        port = server.getsockname()[1]
        url = f"http://127.0.0.1:{port}/"
        answer = sandbox.post(f"{draft_path}/scrape-images", {"url": url})
        ended.set()
        dripping.join()
    assert answer.status_code == 422


def test_the_pool_is_shared_by_all_accounts_and_apart_from_their_rate_limit(sandbox):
    made = sandbox.reset("team_of_three")
    sandbox.set(scraping_pool=2, scraping_pool_seconds=300)
    paths = []
    for account in made:
        sandbox.token = account["token"]
        paths.append(f"/v2/faceless/{sandbox.draft(type='url-based')}")
    answers = []
    for account, path in zip(made, paths, strict=True):
        sandbox.token = account["token"]
        answers.append(sandbox.post(f"{path}/scrape-images", {"url": BEES}))
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    full = answers[-1]
    assert int(full.headers["x-ratelimit-remaining"]) == 28
    assert full.headers["retry-after"] == "300"
    assert int(full.headers["x-ratelimit-reset"]) == int(sandbox.world.now) + 300
    sandbox.advance(300)
    assert sandbox.post(f"{paths[-1]}/scrape-images", {"url": BEES}).status_code == 200


def test_a_refused_address_draws_nothing_from_the_pool(sandbox):
    sandbox.set(scraping_pool=1)
    path = f"/v2/faceless/{sandbox.draft(type='url-based')}/scrape-images"
    for _ in range(3):
        assert sandbox.post(path, {"url": "https://x.com/a"}).status_code == 422
    assert sandbox.post(path, {"url": BEES}).status_code == 200
    assert sandbox.post(path, {"url": BEES}).status_code == 429


def test_an_empty_pool_and_an_empty_balance_charge_nothing(sandbox):
    sandbox.reset("low_credits")
    path = f"/v2/faceless/{sandbox.draft(type='url-based')}/scrape-script"
    sandbox.set(scraping_pool=1)
    sent = {"url": BEES, "duration": 30}
    statuses = [sandbox.post(path, sent).status_code for _ in range(2)]
    sandbox.set(scraping_pool=9)
    assert [*statuses, sandbox.post(path, sent).status_code] == [200, 402, 402]
    assert sandbox.money()["balance"] == 2


@pytest.mark.parametrize("sent", [{}, {"url": 3}, {"url": None}, {"url": ""}, {"url": BEES}])
def test_a_script_needs_an_address_and_a_duration(sandbox, draft_path, sent):
    assert sandbox.post(f"{draft_path}/scrape-script", sent).status_code == 422


def test_a_busy_video_is_scraped_or_refused_as_the_setting_says(sandbox, draft_path):
    sandbox.set(patch_while_busy="refused")
    sandbox.patch(draft_path, {"script": "Bees.", "voice_id": 2114})
    sandbox.post(f"{draft_path}/scrape-images", {"url": BEES})
    sandbox.post(f"{draft_path}/render")
    assert sandbox.post(f"{draft_path}/scrape-images", {"url": BEES}).status_code == 403
    sent = {"url": BEES, "duration": 30}
    assert sandbox.post(f"{draft_path}/scrape-script", sent).status_code == 403


def test_pictures_are_put_in_the_order_of_a_patch_and_others_are_left_out(sandbox, draft_path):
    assets = sandbox.post(f"{draft_path}/scrape-images", {"url": BEES}).json()["data"]["assets"]
    first, second, third = (it["id"] for it in assets)
    answer = sandbox.patch(draft_path, {"assets": [third, first]})
    shown = answer.json()["data"]["assets"]
    assert [(it["id"], it["used"], it["position"]) for it in shown] == [
        (third, True, 1),
        (first, True, 2),
        (second, False, 3),
    ]


@pytest.mark.parametrize("wrong", [[1], ["x"], "x"])
def test_pictures_that_the_video_lacks_are_refused(sandbox, draft_path, wrong):
    sandbox.post(f"{draft_path}/scrape-images", {"url": BEES})
    answer = sandbox.patch(draft_path, {"assets": wrong})
    assert answer.status_code == 422
    assert next(iter(answer.json()["errors"])).startswith("assets")


def test_a_page_without_a_used_picture_is_not_rendered(sandbox, draft_path):
    sandbox.post(f"{draft_path}/scrape-images", {"url": BEES})
    voice = sandbox.get("/v2/faceless/options").json()["data"]["mandatory"]["voices"][0]["id"]
    sandbox.patch(draft_path, {"script": "Bees dance.", "voice_id": voice, "assets": []})
    answer = sandbox.post(f"{draft_path}/render")
    assert answer.status_code == 422
    assert list(answer.json()["errors"]) == ["assets"]


def test_a_service_that_takes_no_order_shows_none(sandbox, draft_path):
    sandbox.set(asset_order="ignored")
    assets = sandbox.post(f"{draft_path}/scrape-images", {"url": BEES}).json()["data"]["assets"]
    ids = [it["id"] for it in assets]
    shown = sandbox.patch(draft_path, {"assets": ids[::-1]}).json()["data"]["assets"]
    assert [it["id"] for it in shown] == ids
    assert all("used" not in it for it in shown)
