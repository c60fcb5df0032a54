"""What is live is pushed: no page asks again by the clock, but where nobody is left to push."""

from __future__ import annotations

import re
from pathlib import Path

from django.conf import settings

BASE = Path(settings.BASE_DIR)
TIMERS = re.compile(r"setInterval|requestAnimationFrame")
FETCHES = re.compile(r"\bfetch\(|htmx\.(?:ajax|trigger)|XMLHttpRequest|EventSource|dispatchEvent")
# Says "Live news is interrupted" and has the page look every ten seconds until it is not.
WITHOUT_A_STREAM = "offline.js"
# Their events: a part is asked for once, at the end of its countdown; a level of sound is drawn.
# Who is in a scene is told as long as they are, since nobody tells that they are gone. Which videos
# the windows of a browser show is asked of the browser.
WITH_EVENTS = ("countdown.js", "recorder.js", "presence.js", "stream_election.js")

# A worker that died announces nothing: this card of the operator's page looks for itself.
OF_DEAD_PROCESSES = ("_processes.html", "every 5s")


def test_no_part_of_a_page_asks_again_by_the_clock() -> None:
    triggers = {
        (path.name, trigger)
        for path in (BASE / "templates").rglob("*.html")
        for trigger in re.findall(r'hx-trigger="([^"]*)"', path.read_text())
    }
    assert len(triggers) > 10
    assert [it for it in triggers if re.search(r"\bevery\b", it[1])] == [OF_DEAD_PROCESSES]


def test_no_script_that_repeats_itself_asks_anybody() -> None:
    repeating = {
        path.name: path.read_text()
        for path in (BASE / "static/js").rglob("*.js")
        if TIMERS.search(path.read_text())
    }
    assert {"freshness.js", WITHOUT_A_STREAM} <= set(repeating)
    asking = {name for name, text in repeating.items() if FETCHES.search(text)}
    assert asking == {WITHOUT_A_STREAM, *WITH_EVENTS}


LIVE_TAGS = re.compile(r'<[^<>]*?hx-trigger="[^"]*\breelroom:[^"]*"[^<>]*>')
DELAY = re.compile(r"\breelroom:(?:\w+) from:body(?: delay:(\d+m?s))?")


def test_a_part_that_hears_topics_is_neither_aborted_nor_put_off_for_ever_by_the_next() -> None:
    """They come once a second (topic_events.js): a longer delay begins anew each time."""
    tags = [
        (path.name, tag)
        for path in (BASE / "templates").rglob("*.html")
        for tag in LIVE_TAGS.findall(re.sub(r"{%.*?%}", "", path.read_text()))
    ]
    assert len(tags) > 40
    delays = {name: DELAY.findall(tag) for name, tag in tags}
    assert {name for name, found in delays.items() if {"1s", "2s", "3s"} & set(found)} == set()
    assert {name for name, found in delays.items() if len(found) > 1 and "" in found} == set()
    aborting = re.compile(r'hx-sync="[^"]*:(?:replace|drop|abort)')
    assert {name for name, tag in tags if aborting.search(tag)} == set()
