"""The first start as a visitor sees it: a team with sixty days behind it, its pictures, a film.

Somebody can use it at once, and nobody else can read its secrets. The pictures of the README are
taken here.
"""

from __future__ import annotations

import json
import re
import sqlite3
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.media import expect_playing
from tests.browser.member_page import RENDERED_TIMEOUT_MS, sign_in
from tests.browser.page_audit import WIDE, serious_violations
from tests.browser.portal_process import DemoPerson, LivePortal, portal_context
from tests.browser.ready_pages import new_page
from tests.browser.sandbox_control import wait_until
from tests.browser.screenshots import ScreenshotAlbum
from tests.migrated_database import copy_migrated_database
from tests.up.supervisors import await_end_of, group_of, running_in

PICTURE_SIZE = {"width": WIDE, "height": 1000}
PAGES = {
    "overview": ("Mira", "/"),
    "library": ("Mira", "/library/?state=completed"),
    "ideas": ("Priya", "/ideas/"),
    "voices": ("Priya", "/voices/"),
    "characters": ("Priya", "/characters/"),
    "ledger": ("Thea", "/ledger/"),
    "ledger-charts": ("Thea", "/ledger/charts/"),
    "reconciliation": ("Thea", "/reconciliation/"),
    "costs": ("Mira", "/costs/"),
    "forecast": ("Mira", "/forecast/"),
    "budgets": ("Thea", "/budgets/"),
    "top-up": ("Thea", "/top-up/"),
    "alerts": ("Thea", "/alerts/"),
}
ROLES = ["owner", "admin", "treasurer", "producer", "producer", "viewer"]
OVERVIEW = ("Ledger and balance match", "Luca requests", "Without top-ups the credits run out")
OWN_WORDS = """A glacier looks still, and yet it moves. Every winter lays down a layer of snow.
Under its own weight the snow turns to ice, blue and dense, and it flows like slow water."""
IN_VIEW_WITHOUT_PICTURE_JS = """() => [...document.querySelectorAll("video[data-still]")]
    .filter((film) => film.getBoundingClientRect().top < innerHeight).length"""


@pytest.fixture(scope="module")
def full_portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LivePortal]:
    """A portal with its demo team; at the end it is stopped by Ctrl-C and leaves no process."""
    var = tmp_path_factory.mktemp("past")
    copy_migrated_database(var / "reelroom.sqlite3")
    with portal_context(var, DEMO="full") as portal:
        group = group_of(portal.pid)
        assert len(running_in(group)) >= 8, "reaper, valkey, sandbox, web, three workers, beat"
        yield portal
    await_end_of(group)


@pytest.fixture(scope="module")
def open_past_page(chromium: Browser, full_portal: LivePortal) -> Iterator[Callable[[str], Page]]:
    """Opens the page of a member, who signs in once. Each open page holds a connection for its
    events, and a browser has six."""
    contexts: dict[str, BrowserContext] = {}

    def open_page(first_name: str) -> Page:
        if first_name not in contexts:
            contexts[first_name] = chromium.new_context(
                base_url=full_portal.portal,
                viewport=PICTURE_SIZE,  # type: ignore[arg-type]
                reduced_motion="reduce",
            )
            sign_in(new_page(contexts[first_name]), full_portal.person(first_name))
        return contexts[first_name].pages[0]

    yield open_page
    for context in contexts.values():
        context.close()


def test_what_says_how_to_sign_in_and_the_secrets_are_for_their_owner_alone(
    full_portal: LivePortal,
) -> None:
    demo, secrets = full_portal.var / "demo.json", full_portal.var / "env"
    assert set(json.loads(demo.read_text())) == {"portal", "sandbox", "people", "accounts"}
    assert [one.role for one in full_portal.people] == ROLES
    assert len({one.password for one in full_portal.people}) == len(ROLES)
    assert "SECRET_KEY=" in secrets.read_text()
    assert [stat.S_IMODE(file.stat().st_mode) for file in (demo, secrets)] == [0o600, 0o600]
    assert stat.S_IMODE(full_portal.var.stat().st_mode) == 0o700


def test_the_portal_is_ready_and_everybody_can_sign_in(full_portal: LivePortal) -> None:
    """At a host name, for browsers make no passkey for an IP address, and at its address too."""
    assert full_portal.portal.startswith("http://localhost:")
    assert any(full_portal.portal in line for line in full_portal.lines)
    by_address = full_portal.portal.replace("localhost", "127.0.0.1")
    assert httpx.get(f"{by_address}/accounts/login/").status_code == httpx.codes.OK
    assert httpx.get(f"{full_portal.portal}/healthz").text == "ok\n"
    assert httpx.get(f"{full_portal.portal}/readyz").json() == {"ready": True, "missing": {}}
    statuses = {one.name: sign_in_by_form(full_portal, one) for one in full_portal.people}
    assert statuses == dict.fromkeys(statuses, httpx.codes.FOUND)


def sign_in_by_form(portal: LivePortal, person: DemoPerson) -> int:
    with httpx.Client(base_url=portal.portal) as client:
        page = client.get("/accounts/login/").text
        token = page.partition('name="csrfmiddlewaretoken" value="')[2].partition('"')[0]
        form = {"login": person.email, "password": person.password, "csrfmiddlewaretoken": token}
        return client.post("/accounts/login/", data=form).status_code


def test_the_tokens_to_try_open_their_accounts_and_are_not_in_the_portal(
    full_portal: LivePortal,
) -> None:
    for account in full_portal.accounts:
        bearer = {"Authorization": f"Bearer {account['token']}"}
        profile = httpx.get(f"{full_portal.sandbox}/v2/me", headers=bearer).json()["data"]
        assert profile["email"] == account["email"]
    with sqlite3.connect(full_portal.var / "reelroom.sqlite3") as database:
        stored = database.execute("SELECT last_four FROM proxyapi_token").fetchall()
        (accounts,) = database.execute("SELECT count(*) FROM proxyapi_account").fetchone()
    assert accounts == 1, "three tokens of one account share one row"
    assert len(stored) == 3
    assert not {row[0] for row in stored} & {one["token"][-4:] for one in full_portal.accounts}


def wait_for_pictures(page: Page) -> None:
    """Each is of a film that the sandbox makes when it is asked for."""
    wait_until(lambda: not page.evaluate(IN_VIEW_WITHOUT_PICTURE_JS), RENDERED_TIMEOUT_MS / 1000)


def test_every_page_is_full_and_complains_of_nothing(
    open_past_page: Callable[[str], Page], album: ScreenshotAlbum
) -> None:
    problems: list[str] = []
    for first_name in dict.fromkeys(name for name, _ in PAGES.values()):
        open_past_page(first_name).on(
            "console",
            lambda message: problems.append(
                f"{message.type}: {message.text} ({message.location['url']})"
            ),
        )
    for name, (first_name, path) in PAGES.items():
        page = open_past_page(first_name)
        page.goto(path)
        expect(page.locator("main h1")).to_be_visible()
        expect(page.locator("main .bone"), name).to_have_count(0)
        expect(page.locator("main .empty"), name).to_have_count(0)
        for text in OVERVIEW if name == "overview" else ():
            expect(page.locator("main")).to_contain_text(text, timeout=RENDERED_TIMEOUT_MS)
        if name == "overview":  # Thea's, and all the others: test_page_audit.py
            problems += serious_violations(page)
        wait_for_pictures(page)
        album.take(page, name)
    assert problems == []


def test_the_studio_knows_the_past_of_each_type(
    open_past_page: Callable[[str], Page], album: ScreenshotAlbum
) -> None:
    page = open_past_page("Mira")
    page.goto("/studio/")
    expect(page.locator(".flow")).to_have_count(6)  # four types, clips and storyboards
    # Nothing is known of AI clips by the engine that Mira's draft would get.
    expect(page.locator(".flow .amount")).to_have_count(5)
    expect(page.locator(".flow", has_text="Not rendered with your engine")).to_have_count(1)
    expect(page.locator(".preset")).to_have_count(2)
    field, reading = page.locator("textarea[name=start]"), page.locator("#id_start_help")
    field.fill("Why glaciers are blue")
    expect(reading).to_contain_text("Reads as a topic")
    wait_for_pictures(page)
    album.take(page, "studio")
    field.fill(" ".join(OWN_WORDS.split() * 2))  # as long as the AI clips of the past
    expect(reading).to_contain_text("Reads as a script")
    page.get_by_role("button", name="AI clips").click()
    page.wait_for_url("**/studio/*-*/*/")
    page.goto(re.sub(r"[\w-]+/$", "visuals/", page.url))
    page.get_by_role("radio", name="Kestrel Voice", exact=False).first.check()
    expect(page.locator(".rate")).to_contain_text("Kestrel Voice")
    expect(page.locator(".figure").first).to_contain_text("≈")
    album.take(page, "visuals")
    page.locator(".btn--primary:visible", has_text="Render").first.click()
    dialog = page.locator("dialog[open]")
    # The past of this type was made with other engines, so no dots stand beside the estimate.
    expect(dialog).to_contain_text("Approximate, according to the service")
    album.take(page, "price")


def test_a_film_of_the_past_is_made_and_plays_when_somebody_opens_it(
    open_past_page: Callable[[str], Page], full_portal: LivePortal, album: ScreenshotAlbum
) -> None:
    page, before = open_past_page("Mira"), films(full_portal)
    page.goto("/library/?state=completed&type=ai-visuals&format=16:9")
    first = page.locator("article.video").first
    expect(first.locator(".frame img")).to_be_visible(timeout=RENDERED_TIMEOUT_MS)
    assert films(full_portal) == before, "looking at cards makes no film"
    address = str(first.locator("a.video__title").get_attribute("href"))
    # Until it is made: whoever asks for it meanwhile may be told to come again.
    wait_until(lambda: page.request.get(f"{address}media/", timeout=180_000).ok, seconds=180)
    page.goto(address)
    expect_playing(page.locator("video.player__film"))
    assert len(films(full_portal)) == len(before) + 1
    album.take(page, "video")


def films(portal: LivePortal) -> list[Path]:
    """Whole ones of videos: a film is written under a name that begins with a dot.

    The picture of a storyboard is of its film, which may still be made for the page before."""
    with sqlite3.connect(portal.var / "sandbox.sqlite3") as world:
        rows = world.execute("SELECT body FROM rows WHERE kind = 'job'").fetchall()
    jobs = [json.loads(body) for (body,) in rows]
    videos = {job["file"] for job in jobs if job["kind"] == "faceless"}
    made = (portal.var / "sandbox-media").glob("[!.]*.mp4")
    return sorted(file for file in made if file.name in videos)


def test_a_topic_becomes_a_render_with_one_field_and_three_presses(
    open_past_page: Callable[[str], Page],
) -> None:
    """The total is a range from the team's past; the render starts by itself after the script.

    It is the last test here, for its render adds a film that the one before would count."""
    page = open_past_page("Mira")
    page.goto("/studio/")
    page.locator("textarea[name=start]").fill("Why glaciers are blue")
    expect(page.locator("#id_start_help")).to_contain_text("Reads as a topic")
    page.get_by_role("button", name="AI visuals").click()
    page.wait_for_url("**/studio/*-*/*/")
    page.get_by_role("button", name="Write and render").click()
    dialog = page.locator("dialog[open]")
    expect(dialog).to_contain_text(re.compile(r"\d cr, as your last \d+ videos like this cost"))
    dialog.get_by_role("button", name="Write and render").click()
    page.wait_for_url("**/videos/**", timeout=RENDERED_TIMEOUT_MS)
    expect(page.locator(".pill").first).to_contain_text(
        re.compile("Queued|Rendering|syncing"), timeout=RENDERED_TIMEOUT_MS
    )
