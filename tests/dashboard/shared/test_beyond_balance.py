"""A charge that the balance does not cover, while the service shows extra credits of which nobody
knows whether they can be spent: each page that refuses it offers to send it, and sends it once."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import uuid4

import pytest
from django.urls import reverse
from django.utils import timezone
from selectolax.lexbor import LexborHTMLParser, LexborNode

from dashboard.models import (
    ApprovalRequest,
    Budget,
    Membership,
    VersionGroup,
    VideoVersion,
)
from dashboard.shared.uploads.recordings import read_recording
from dashboard.voices.actions import add_samples
from proxyapi.kinds.job_parts import store_parts
from proxyapi.models import (
    Account,
    CharacterGenres,
    Charge,
    ChargeState,
    Job,
    JobKind,
    JobState,
    PageRead,
    PageReadState,
    StoryboardMode,
    Token,
    VoiceSlots,
)
from proxyapi.operations import CHARGING_OPERATIONS
from proxyapi.refusals import CreditCheck
from tests.checks.reached_operations import TYPED_SHORTCUT
from tests.dashboard.clips.conftest import MODELS, SETTINGS, make_clip_draft
from tests.dashboard.library.parts.conftest import COSTS, SCENES
from tests.dashboard.library.parts.conftest import OPTIONS as CAPTIONS
from tests.dashboard.library.parts.test_exports import STYLE
from tests.dashboard.storyboards.boards import give_clips, give_price, send
from tests.dashboard.studio.conftest import OPTIONS, WANTED
from tests.dashboard.studio.test_source import PAGE
from tests.dashboard.studio.test_source import SETTINGS as PAGE_SETTINGS
from tests.dashboard.voices.conftest import CHOSEN, WAV
from tests.factories import AccountFactory, ChargeFactory, JobFactory, TokenFactory
from tests.storyboards import MODELS as SCENE_MODELS
from tests.storyboards import OPTIONS as SCENE_OPTIONS
from tests.storyboards import create_storyboard

HTMX = {"HX-Request": "true"}
PRICES = {
    **COSTS,
    "content_prompt_requested": {"credits": 4},
    "idea_discovery": {"credits": 15},
    "character_preview": {"credits": 3},
    "character_training": {"credits": 10},
}
# Nothing is held for own media, because the specification names no price.
HOLDS_NOTHING = {"ai_visuals.upload"}


class Place(NamedTuple):
    """The address that refuses a charge, and the form of a press without a question."""

    url: str
    press: dict[str, Any] | None = None


def url_of(name: str, *args: object) -> str:
    return reverse(name, args=[*args])


def draft(token: Token, **fields: Any) -> Job:
    now = timezone.now()
    chosen = fields.pop("chosen", WANTED)
    job: Job = JobFactory.create(
        account=token.account,
        token=token,
        remote_id=uuid4().hex,
        draft__settings=chosen,
        draft__sent_settings=chosen,
        draft__estimate=Decimal(96),
        draft__estimate_as_of=now,
        **fields,
    )
    return job


def film(token: Token, state: JobState = JobState.COMPLETED) -> Job:
    """A rendered video with an image, and an export that failed."""
    now = timezone.now()
    job = draft(token, state=state, started_at=now, finished_at=now, media_url="https://m.example")
    made = {"job": job, "state": ChargeState.CONFIRMED, "settled_at": now, "sent_at": now}
    ChargeFactory.create(**made, cost=Decimal(96))
    charge = ChargeFactory.create(**made, cost=5, operation="faceless.export", body=STYLE)
    exports = [{"id": 9, "status": "failed"}]
    store_parts(job, {"assets": SCENES, "exports": exports}, ("assets", "exports"))
    job.parts.filter(list_name="exports").update(charge=charge)
    return job


def character(token: Token, **chosen: Any) -> Job:
    settings = {"genre_id": 308, **chosen}
    job = draft(token, kind=JobKind.CHARACTER, chosen=settings)
    picture = {"id": 93001, "url": "https://media.example/1.png"}
    store_parts(job, {"previews": [picture]}, ("previews",))
    return job


def render(by: Membership, token: Token) -> Place:
    return Place(url_of("studio-renders", draft(token).pk))


def versions(by: Membership, token: Token) -> Place:
    group = VersionGroup.objects.create(
        team=by.team, difference="none", size=2, nonce=uuid4(), created_by=by.user
    )
    VideoVersion.objects.create(job=draft(token), group=group, number=1)
    return Place(url_of("studio-version-renders", group.pk))


def script(by: Membership, token: Token) -> Place:
    press = {"price": 4, "topic": "How ice moves", "duration": 60, "tone": "Calm"}
    return Place(url_of("studio-scripts", draft(token).pk), press)


def page_script(by: Membership, token: Token) -> Place:
    job = draft(token, chosen=PAGE_SETTINGS)
    read = {"state": PageReadState.DONE, "url": PAGE, "read_url": PAGE}
    PageRead.objects.create(job=job, **read)
    press = {"price": 4, "duration": 60, "tone": "Calm"}
    return Place(url_of("studio-scripts", job.pk), press)


def retry(by: Membership, token: Token) -> Place:
    return Place(url_of("video-retries", film(token, JobState.FAILED).pk))


def render_again(by: Membership, token: Token) -> Place:
    return Place(url_of("new-renders", film(token).pk))


def export(by: Membership, token: Token) -> Place:
    return Place(url_of("export-new", film(token).pk))


def export_again(by: Membership, token: Token) -> Place:
    job = film(token)
    part = job.parts.get(list_name="exports")
    return Place(url_of("export-repeats", job.pk, part.pk), {"price": 5})


def new_image(by: Membership, token: Token) -> Place:
    job = film(token)
    part = job.parts.filter(list_name="assets")[0]
    return Place(url_of("new-images", job.pk, part.pk), {"price": 2})


def clip(by: Membership, token: Token) -> Place:
    job = make_clip_draft(token, SETTINGS, Decimal(33))
    return Place(url_of("clip-generations", job.pk))


def writing(by: Membership, token: Token) -> Place:
    fields = {"mode": StoryboardMode.WIZARD, "description": "A night train.", "scene_count": 3}
    board = create_storyboard(by, token, style="cinematic", **fields)
    return Place(url_of("storyboard-writing", board.pk))


def scene_clips(by: Membership, token: Token) -> Place:
    board = create_storyboard(by, token, "A boat leaves")
    scene = board.scenes.get()
    return Place(f"{url_of('storyboard-clips', board.pk)}?scenes={scene.pk}")


def film_of_scenes(by: Membership, token: Token) -> Place:
    board = create_storyboard(by, token, "A boat leaves")
    job = send(by, board)
    give_clips(job, *board.scenes.all())
    give_price(job, 24)
    return Place(url_of("storyboard-render", board.pk))


def voice(by: Membership, token: Token) -> Place:
    job = draft(token, kind=JobKind.CLONE, chosen={**CHOSEN, "purchase_addon": True})
    Job.objects.filter(pk=job.pk).update(remote_id="")
    add_samples(by=by, job=Job.objects.get(pk=job.pk), recordings=[("a.wav", read_recording(WAV))])
    return Place(url_of("voice-creations", job.pk))


def search(by: Membership, token: Token) -> Place:
    press = {"price": 15, "keyword": "lakes", "network": "youtube"}
    return Place(url_of("idea-searches"), press)


def preview(by: Membership, token: Token) -> Place:
    return Place(url_of("character-previews", character(token).pk))


def training(by: Membership, token: Token) -> Place:
    job = character(token, preview_id=93001, name="Maja", age=28, gender="female")
    return Place(url_of("character-training", job.pk))


def approval(by: Membership, token: Token) -> Place:
    Budget.objects.create(team=by.team, member=by.user, hard=50)
    charge = ChargeFactory.create(job=draft(token), state=ChargeState.DRAFT)
    request = ApprovalRequest.objects.create(team=by.team, charge=charge, member=by.user)
    return Place(url_of("approval-request-approvals", request.pk))


MakePlace = Callable[[Membership, Token], Place]
PLACES: dict[MakePlace, str] = {
    render: "faceless.render",
    versions: "faceless.render",
    approval: "faceless.render",
    render_again: "faceless.render",
    script: "faceless.scripts",
    page_script: "faceless.scrape_script",
    retry: "faceless.retry",
    export: "faceless.export",
    export_again: "faceless.export",
    new_image: "ai_visuals.regenerate",
    clip: "text_to_video.create",
    writing: "text_to_scene.prompt",
    scene_clips: "text_to_scene.clips",
    film_of_scenes: "text_to_scene.render",
    voice: "voice_clones.create",
    search: "ideas.discover",
    preview: "characters.preview",
    training: "characters.train",
}


@pytest.fixture
def token(priya: Membership) -> Token:
    account = AccountFactory.create(
        tenant=priya.team.tenant,
        costs=PRICES,
        clip_models=[*MODELS, *SCENE_MODELS],
        options={
            "mandatory": OPTIONS["mandatory"],
            "optional": {**OPTIONS["optional"], **CAPTIONS},
            **SCENE_OPTIONS,
        },
        options_as_of=timezone.now(),
    )
    now = timezone.now()
    CharacterGenres.objects.create(account=account, genres=[{"id": 308}], read_at=now)
    VoiceSlots.objects.create(
        account=account, available=0, can_buy=True, cost=Decimal(50), read_at=now
    )
    return TokenFactory.create(account=account, owner=priya.user)


def find_form(page: str) -> LexborNode | None:
    """The form with the button that sends it although only extra credits may pay it."""
    button = LexborHTMLParser(page).css_first('button[name="anyway"]')
    while button is not None and button.tag != "form":
        button = button.parent
    return button


def fields_of(form: LexborNode) -> dict[str, str]:
    fields = {}
    for field in form.css("input[name], textarea[name], select[name]"):
        given = field.attributes
        chosen = field.css_first("option[selected]") or field.css_first("option")
        if given.get("type") in ("radio", "checkbox") and "checked" not in given:
            continue
        if field.tag == "select":
            given = chosen.attributes if chosen else {}
        value = field.text() if field.tag == "textarea" else given.get("value")
        fields[str(field.attributes["name"])] = value or ""
    return fields


@pytest.mark.parametrize("make", PLACES, ids=lambda make: make.__name__)
def test_what_only_extra_credits_may_pay_is_offered_and_sent_once(
    make: MakePlace, priya: Membership, thea: Membership, token: Token, client_of: Any
) -> None:
    browser, place = client_of(thea if make is approval else priya), make(priya, token)
    held = Charge.objects.filter(operation=PLACES[make], state=ChargeState.HELD)
    Account.objects.update(balance=Decimal(1), extra_credits=Decimal(1000))
    if place.press is None:
        page = browser.get(place.url).content.decode()
    else:
        fields = {**place.press, "nonce": str(uuid4())}
        page = browser.post(place.url, fields, headers=HTMX).content.decode()
    assert "The service also shows 1,000 extra credits." in page
    form = find_form(page)
    assert form is not None, f"{make.__name__} has no button to send it"
    url, fields = form.attributes["action"], fields_of(form)
    browser.post(url, fields, headers=HTMX)
    assert not held.exists()  # without the button that says so
    for _ in range(2):
        browser.post(url, {**fields, "anyway": "1"}, headers=HTMX)
    assert held.count() == 1


def test_each_charging_operation_has_a_place() -> None:
    typed = {name for name in CHARGING_OPERATIONS if TYPED_SHORTCUT.match(name)}
    sent = {TYPED_SHORTCUT.sub("faceless.", name) for name in typed} & set(CHARGING_OPERATIONS)
    twins = {name for name in typed if TYPED_SHORTCUT.sub("faceless.", name) in sent}
    assert set(CHARGING_OPERATIONS) - twins - HOLDS_NOTHING == set(PLACES.values())


def test_what_is_free_fits_an_overdrawn_account() -> None:
    check = CreditCheck(hold=Decimal(0), available=Decimal(-5), extra=Decimal(100))
    assert check.fits and not check.is_beyond_balance
