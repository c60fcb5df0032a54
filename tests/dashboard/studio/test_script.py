"""A script from the service: its price in the button, sent once, shown as it goes."""

from __future__ import annotations

import re
import uuid
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from dashboard.models import Membership
from dashboard.studio.flows import StepSlug
from dashboard.studio.queries import load_studio_page
from dashboard.studio.queries.script import script_length
from proxyapi.models import Charge, ChargeState, Draft, Job, Token
from tests.dashboard.studio.conftest import SCRIPT, Browser, get_page, job_url, step_url
from tests.factories import ChargeFactory

HTMX = {"HX-Request": "true"}
ASKED = {
    "price": "4",
    "topic": "How ice moves",
    "duration": "60",
    "style": "",
    "tone": "Calm",
    "language": "",
}


def queued_requests(**changes: str) -> dict[str, str]:
    return {**ASKED, "nonce": str(uuid.uuid4()), **changes}


def test_the_button_carries_the_price(priya: Membership, draft: Job, client_of: Browser) -> None:
    """pitfall_47"""
    html = get_page(client_of(priya), step_url(draft, "script"))
    assert re.search(r"Write the script</span>\s*<span class=\"btn__price\">4 cr", html)


@pytest.mark.parametrize("name", ["content_prompt_requested", "CONTENT_PROMPT_REQUESTED"])
def test_free_uses_are_shown_and_not_counted_down(
    priya: Membership, draft: Job, client_of: Browser, name: str
) -> None:
    """pitfall_57"""
    draft.account.costs = {name: {"credits": 6, "free": 3}}
    draft.account.save()
    html = get_page(client_of(priya), step_url(draft, "script"))
    assert "3 free uses come first" in html
    assert "6 cr" in html


def test_a_price_that_was_never_read_is_about(
    priya: Membership, draft: Job, client_of: Browser
) -> None:
    draft.account.costs = {}
    draft.account.save()
    assert '<span class="btn__price">≈ 4 cr' in get_page(
        client_of(priya), step_url(draft, "script")
    )


def test_a_script_at_a_price_that_nobody_saw_is_asked_for_again(
    priya: Membership, draft: Job, client_of: Browser
) -> None:
    answer = client_of(priya).post(
        job_url(draft, "scripts"), queued_requests(price="3"), headers=HTMX
    )
    html = answer.content.decode()
    assert "Not sent. The price was 3 cr and is 4 cr now." in html
    assert 'name="price" value="4' in html
    assert not Charge.objects.exists()


@pytest.mark.parametrize("price", ["1e9999999", "1e-9999999", "NaN", "much", ""])
def test_a_price_that_is_none_was_not_drawn_by_us_and_nothing_is_asked_for(
    priya: Membership, draft: Job, client_of: Browser, price: str
) -> None:
    answer = client_of(priya).post(
        job_url(draft, "scripts"), queued_requests(price=price), headers=HTMX
    )
    said = "Nothing was saved or sent: the price in this form is missing or damaged. Reload"
    assert said in answer.content.decode()
    assert not Charge.objects.exists()


def test_asking_for_a_script_holds_its_price(
    priya: Membership, draft: Job, client_of: Browser
) -> None:
    answer = client_of(priya).post(job_url(draft, "scripts"), queued_requests())
    charge = Charge.objects.get()
    assert answer.url == step_url(draft, "script")
    assert (charge.operation, charge.hold) == ("faceless.scripts", Decimal(4))
    assert charge.body == {"topic": "How ice moves", "duration": 60, "tone": "Calm"}


def test_a_double_press_asks_once(priya: Membership, draft: Job, client_of: Browser) -> None:
    form = queued_requests()
    for _ in range(2):
        client_of(priya).post(job_url(draft, "scripts"), form)
    assert Charge.objects.count() == 1


def test_while_it_is_written_the_part_says_so_and_refetches(
    priya: Membership, draft: Job, client_of: Browser
) -> None:
    html = (
        client_of(priya)
        .post(job_url(draft, "scripts"), queued_requests(), headers=HTMX)
        .content.decode()
    )
    assert "<html" not in html
    assert 'hx-trigger="load delay:1s, reelroom:charge from:body' in html
    assert "The script is sent as soon as a worker is free." in html
    assert "<textarea" not in html


def test_when_it_arrives_the_part_holds_the_words(
    priya: Membership, draft: Job, client_of: Browser
) -> None:
    now = timezone.now()
    ChargeFactory.create(
        job=draft,
        operation="faceless.scripts",
        state=ChargeState.CONFIRMED,
        cost=Decimal(4),
        sent_at=now,
    )
    Draft.objects.update(settings={**draft.draft.settings, "script": SCRIPT})
    html = get_page(client_of(priya), job_url(draft, "scripts"), **HTMX)
    assert "ice ice" in html
    assert "every 2s" not in html
    assert "60 s, 151 words" in html


def test_a_script_that_arrives_while_the_page_is_made_is_on_it(
    priya: Membership, draft: Job
) -> None:
    """The job was read before, and the charge says afterwards that nothing is awaited."""
    seen = Job.objects.select_related("draft").get(pk=draft.pk)
    Draft.objects.update(settings={**draft.draft.settings, "script": SCRIPT})
    page = load_studio_page(seen, priya, StepSlug.SCRIPT)
    assert (page.script, page.length) == (SCRIPT, script_length(SCRIPT))


def test_what_was_asked_for_stands_in_the_form_for_the_next_one(
    priya: Membership, draft: Job, client_of: Browser
) -> None:
    ChargeFactory.create(
        job=draft,
        operation="faceless.scripts",
        state=ChargeState.CONFIRMED,
        cost=Decimal(4),
        sent_at=timezone.now(),
        body={"topic": "Whales in winter", "duration": 30, "style": "Story", "language": "German"},
    )
    html = get_page(client_of(priya), step_url(draft, "script"))
    assert "Whales in winter</textarea>" in html
    for value in ("30", "Story", "German"):
        assert re.search(rf'<option value="{value}"\s+selected', html)


def test_a_character_nobody_sees_is_refused_in_our_words(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    new = {"start": "How\x00 bees vote"}
    pages = [
        client_of(priya).post("/studio/drafts/", new).content.decode(),
        client_of(priya).post("/tokens/", {"token": "sbx_\x00"}).content.decode(),
    ]
    for html in pages:
        assert "Null characters" not in html
        assert "It contains an invisible character" in html


def test_a_lost_answer_is_shown_as_unknown(
    priya: Membership, draft: Job, client_of: Browser
) -> None:
    ChargeFactory.create(
        job=draft,
        operation="faceless.scripts",
        state=ChargeState.UNKNOWN,
        quote=Decimal(4),
        sent_at=timezone.now(),
    )
    html = get_page(client_of(priya), step_url(draft, "script"))
    assert "We do not know whether 4 cr were spent." in html
    assert "The script was sent at" in html
    assert "Write the script" not in html


def test_a_refused_script_says_why_and_can_be_asked_for_again(
    priya: Membership, draft: Job, client_of: Browser
) -> None:
    ChargeFactory.create(
        job=draft,
        operation="faceless.scripts",
        state=ChargeState.REFUSED,
        reason="The account has too few credits.",
    )
    html = get_page(client_of(priya), step_url(draft, "script"))
    assert "No script was written, and nothing was charged." in html
    assert "The account has too few credits." in html
    assert "Write the script" in html


def test_a_service_that_requires_style_tone_and_language_gets_them_after_its_refusal(
    priya: Membership, draft: Job, client_of: Browser
) -> None:
    """The form offers no "Automatic" any more; what is chosen first is sent."""
    assert "Automatic" in get_page(client_of(priya), step_url(draft, "script"))
    ChargeFactory.create(
        job=draft,
        operation="faceless.scripts",
        state=ChargeState.REFUSED,
        status=422,
        reason="The service does not accept the style: “The style field is required.”",
    )
    html = get_page(client_of(priya), step_url(draft, "script"))
    assert "Automatic" not in html
    assert all(f'<option value="{word}"' in html for word in ("Explainer", "Calm", "English"))
    answer = client_of(priya).post(job_url(draft, "scripts"), queued_requests())
    assert answer.status_code == 422  # an older page: it is drawn again and nothing is sent


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"duration": "45"}, "Choose a length from the list."),
        ({"topic": ""}, "Enter a topic."),
        ({"topic": "x" * 501}, "At most 500 characters are allowed"),
    ],
)
def test_a_script_request_that_cannot_be_sent_costs_nothing(
    priya: Membership, draft: Job, client_of: Browser, wrong: dict[str, str], sentence: str
) -> None:
    """pitfall_114"""
    answer = client_of(priya).post(job_url(draft, "scripts"), {**queued_requests(), **wrong})
    assert answer.status_code == 422
    assert sentence in answer.content.decode()
    assert not Charge.objects.exists()


def test_too_few_credits_are_a_sentence_in_the_part(
    priya: Membership, draft: Job, client_of: Browser
) -> None:
    draft.account.balance = Decimal(1)
    draft.account.save()
    html = (
        client_of(priya)
        .post(job_url(draft, "scripts"), queued_requests(), headers=HTMX)
        .content.decode()
    )
    assert "Not sent. It needs 4 cr; 1 are free." in html
    assert "How ice moves" in html


def refused_with(browser: Any, job: Job, words: str) -> str:
    """The part after a press at a price that is another by now; own words went along with it."""
    answer = browser.post(
        job_url(job, "scripts"), queued_requests(price="3", script=words), headers=HTMX
    )
    html = str(answer.content.decode())
    assert "Not sent. The price was 3 cr" in html
    return html


@pytest.mark.parametrize(
    "words", ["Typed just now.", "ice " * 3001, ""], ids=["in time", "too many", "none"]
)
def test_own_words_that_are_not_saved_stand_after_a_refused_press(
    priya: Membership, ready: Job, client_of: Browser, words: str
) -> None:
    html = refused_with(client_of(priya), ready, words)
    assert f">\n{words}</textarea>" in html
    assert html.count('data-unsaved="refused"') == 1
    ready.refresh_from_db()
    assert ready.draft.settings["script"] == SCRIPT


@pytest.mark.parametrize("words", [SCRIPT, f"\r\n{SCRIPT} "], ids=["same", "space around"])
def test_own_words_that_are_saved_are_not_called_unsaved(
    priya: Membership, ready: Job, client_of: Browser, words: str
) -> None:
    assert "data-unsaved" not in refused_with(client_of(priya), ready, words)


def test_a_draft_without_own_words_has_none_that_are_unsaved(
    priya: Membership, draft: Job, client_of: Browser
) -> None:
    assert "data-unsaved" not in refused_with(client_of(priya), draft, "")


def test_a_press_takes_the_own_words_along_after_they_were_saved(
    priya: Membership, ready: Job, client_of: Browser
) -> None:
    html = get_page(client_of(priya), step_url(ready, "script"))
    assert 'hx-include="#step" hx-sync="#step:queue all"' in html
    assert 'hx-sync="closest form:queue all"' in html
    assert "data-unsaved" not in html


def test_only_those_who_render_ask_for_scripts(
    vera: Membership, thea: Membership, otto: Membership, draft: Job, client_of: Browser
) -> None:
    statuses = [
        client_of(member).post(job_url(draft, "scripts"), queued_requests()).status_code
        for member in (vera, thea, otto)
    ]
    assert statuses == [403, 403, 404]


def test_the_form_states_the_limits_before_it_is_sent_and_cuts_nothing(
    priya: Membership, draft: Job, client_of: Browser
) -> None:
    html = get_page(client_of(priya), step_url(draft, "script"))
    assert "up to 3,000 words, 30,000 characters" in html
    assert 'maxlength="30000"' not in html


def test_a_script_of_too_many_characters_stays_in_the_form_and_is_not_saved(
    priya: Membership, draft: Job, client_of: Browser
) -> None:
    words = "Gletscherspaltenfrost. " * 1400
    html = client_of(priya).post(step_url(draft, "script"), {"script": words}).content.decode()
    assert "At most 30000 characters are allowed (now 32199)." in html
    assert words.strip() in html
    draft.refresh_from_db()
    assert "script" not in draft.draft.settings


def test_what_the_service_says_of_a_field_stands_at_that_field_until_it_is_changed(
    priya: Membership, ready: Job, client_of: Browser
) -> None:
    said = "The script field must not be greater than 5000 characters."
    Draft.objects.update(estimate=None, quote_error="No.", quote_fields={"script": said, "x": "y"})
    browser = client_of(priya)
    html = get_page(browser, step_url(ready, "script"))
    assert f"The service does not accept it: “{said}”" in html
    assert 'aria-invalid="true"' in html
    browser.post(step_url(ready, "script"), {"script": "Ice moves."})
    assert said not in get_page(browser, step_url(ready, "script"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Ice moves — slowly.", 3),
        ("冰川每年移动几厘米。", 5),
        ("氷河は動く。 Ice moves.", 5),
        ("ธารน้ำแข็งเคลื่อนที่", 4),
        ("الجليد يتحرك ببطء.", 3),
        ("הקרח נע לאט", 3),
        ("빙하는 움직인다", 2),
        (" \n ", 0),
    ],
    ids=["dash", "Chinese", "Japanese", "Thai", "Arabic", "Hebrew", "Korean", "nothing"],
)
def test_words_are_counted_in_every_script(text: str, words: int) -> None:
    assert script_length(text).words == words


def test_a_script_of_twenty_minutes_is_kept_and_one_word_more_is_not(
    priya: Membership, draft: Job, client_of: Browser
) -> None:
    browser, longest = client_of(priya), " ".join(["ice"] * 3_000)
    browser.post(step_url(draft, "script"), {"script": longest})
    html = get_page(browser, step_url(draft, "script"))
    assert "20 min, 3,000 words" in html
    assert '<option value="1200"' in html
    refused = browser.post(step_url(draft, "script"), {"script": f"{longest} ice"})
    assert "Shorten it by 1." in refused.content.decode()
    draft.refresh_from_db()
    assert draft.draft.settings["script"] == longest


@pytest.mark.parametrize(
    "script",
    ["\u200fالجليد يتحرك ببطء، 3 سم في اليوم.", "یخ می\u200cرود.", "הקרח נע לאט, כמו נהר."],
)
def test_a_script_from_right_to_left_is_kept_as_it_was_written(
    priya: Membership, draft: Job, client_of: Browser, script: str
) -> None:
    """With the marks that its letters need; each place that shows it takes its direction."""
    browser = client_of(priya)
    assert browser.post(step_url(draft, "script"), {"script": script}).status_code == 302
    draft.refresh_from_db()
    assert draft.draft.settings["script"] == script
    for step, tag in (("script", r"<textarea[^>]*"), ("review", r'<p class="script[^>]*')):
        shown = re.search(
            rf'{tag}dir="auto"[^>]*>\s*([^<]+)<', get_page(browser, step_url(draft, step))
        )
        assert shown
        assert shown[1].strip() == script
