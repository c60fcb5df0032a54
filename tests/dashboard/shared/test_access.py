"""Rule 8: every route, for every role and for strangers. What is not theirs does not exist.

The routes come out of the resolver: one that is not in the table fails the test, so a new page
cannot be forgotten.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from dashboard.models import (
    ApprovalRequest,
    AuditAction,
    AuditEvent,
    Budget,
    Label,
    Membership,
    OwnershipTransfer,
    Role,
    VersionGroup,
    VideoVersion,
)
from dashboard.shared.audit_log import record_audit_event
from dashboard.shared.safe_redirect import FORM_PAGES
from proxyapi import calls
from proxyapi.kinds.job_parts import store_parts
from proxyapi.models import (
    ChargeState,
    CreditPack,
    Job,
    JobKind,
    LedgerConflict,
    LedgerMirror,
    StoredFile,
    Token,
)
from proxyapi.stored_files import store_file
from tests.dashboard.shared.routes import OPEN, OWN_ALONE, ROUTES
from tests.factories import (
    AccountFactory,
    ChargeFactory,
    EntryFactory,
    InvitationFactory,
    JobFactory,
    MembershipFactory,
    PresetFactory,
    TokenFactory,
    UserFactory,
)
from tests.passkeys import store_second_factors
from tests.storyboards import create_storyboard

Browser = Callable[[Membership], Client]
# An object of Northlight, found from Priya's video, whose draft waits for more budget.
OBJECTS: dict[str, Callable[[Job], object]] = {
    "job": lambda job: job.pk,
    "membership": lambda job: job.member.memberships.get().pk,
    "invitation": lambda job: job.tenant.team.invitations.get().pk,
    "transfer": lambda job: job.tenant.team.ownership_transfers.get().pk,
    "token": lambda job: job.token_id,
    "account": lambda job: job.account_id,
    "budget": lambda job: job.tenant.team.budgets.get().pk,
    "approval": lambda job: job.charges.get().approval_request.pk,
    "pack": lambda job: job.tenant.credit_packs.get().pk,
    "charge": lambda job: job.account.charges.get(state=ChargeState.UNKNOWN).pk,
    "label": lambda job: job.labels.get().pk,
    "group": lambda job: job.version.group_id,
    "change": lambda job: uuid.uuid4(),  # of the reader's own session
    "rewrite": lambda job: job.account.ledger_conflicts.get().pk,
    "preset": lambda job: job.tenant.team.presets.get(name="Whales in series").pk,
    "clip": lambda job: job.account.jobs.get(kind=JobKind.CLIP).pk,
    "storyboard": lambda job: job.tenant.storyboards.get().pk,
    "scene": lambda job: job.tenant.storyboards.get().scenes.get().pk,
    "part": lambda job: job.parts.get(list_name="assets").pk,
    "export": lambda job: job.parts.get(list_name="exports").pk,
    "voice": lambda job: job.account.jobs.get(kind="clone").pk,
    "sample": lambda job: StoredFile.objects.get(job__account=job.account, job__kind="clone").pk,
    "character": lambda job: character_of(job).pk,
    "picture": lambda job: character_of(job).parts.get().pk,
    "session": lambda job: UserSession.objects.get(user=job.member).pk,
    "passkey": lambda job: Authenticator.objects.get(user=job.member, type="webauthn").pk,
    "entry": lambda job: AuditEvent.objects.get(target=str(job.pk)).position,
}
METHODS = [(name, "get") for name, route in ROUTES.items() if route.get is not None]
METHODS += [(name, "post") for name, route in ROUTES.items() if route.post is not None]
WITH_OBJECT = [(name, method) for name, method in METHODS if ROUTES[name].of not in ("", "change")]


@pytest.fixture
def team(
    mira: Membership,
    jonas: Membership,
    thea: Membership,
    priya: Membership,
    vera: Membership,
) -> dict[Role, Membership]:
    return {Role(one.role): one for one in (mira, jonas, thea, priya, vera)}


@pytest.fixture
def job(priya: Membership) -> Job:
    account = AccountFactory.create(tenant=priya.team.tenant)
    token = TokenFactory.create(account=account, owner=priya.user)
    job = JobFactory.create(account=account, token=token, title="Whales in fog")
    Budget.objects.create(team=priya.team, member=priya.user, hard=50)
    charge = ChargeFactory.create(job=job, state=ChargeState.DRAFT)
    ApprovalRequest.objects.create(team=priya.team, charge=charge, member=priya.user)
    EntryFactory.create(account=account, label="Whales in fog")
    lost = JobFactory.create(account=account, token=token, title="Whales in fog, again")
    ChargeFactory.create(job=lost, state=ChargeState.UNKNOWN, sent_at=timezone.now())
    JobFactory.create(account=account, token=token, kind=JobKind.CLIP)
    create_storyboard(priya, token, "Whales in fog", title="Whales in scenes")
    LedgerMirror.objects.create(account=account, high=1, problem="Row 0 reads differently now.")
    exports = [{"id": 2, "status": "completed", "url": "http://127.0.0.1:8001/media/2.mp4"}]
    store_parts(job, {"assets": [{"id": 1}], "exports": exports}, ("assets", "exports"))
    words = {"label": "Whales in fog", "credit_spend": "-96"}
    LedgerConflict.objects.create(account=account, position=0, before=words, after=words)
    group = VersionGroup.objects.create(
        team=priya.team, difference="none", size=2, nonce=uuid.uuid4(), created_by=priya.user
    )
    VideoVersion.objects.create(job=job, group=group, number=1)
    VideoVersion.objects.create(job=lost, group=group, number=2)
    label = Label.objects.create(team=priya.team, name="Whales", created_by=priya.user)
    label.jobs.add(job)
    CreditPack.objects.create(tenant=job.tenant, plan_id=301, name="Whales in bulk", credits=500)
    PresetFactory.create(team=priya.team, created_by=priya.user, name="Whales in series")
    InvitationFactory.create(team=priya.team, address="whales@northlight.example")
    giver = MembershipFactory.create(team=priya.team, role=Role.OWNER)
    soon = timezone.now() + timedelta(days=7)
    OwnershipTransfer.objects.create(
        team=priya.team, from_user=giver.user, to_user=priya.user, expires_at=soon
    )
    voice = JobFactory.create(
        account=account, token=token, kind="clone", title="Whales in song", draft__settings={}
    )
    store_file(voice, name="whales.wav", content_type="audio/wav", content=b"RIFF")
    same = {"account": account, "token": token, "title": "Whales in fog"}
    character = JobFactory.create(kind=JobKind.CHARACTER, **same)
    picture = {"id": 3, "url": "http://127.0.0.1:8001/media/3.png"}
    store_parts(character, {"previews": [picture]}, ("previews",))
    store_file(character, name="whale", content_type="image/png", content=b"\x89PNG")
    record_audit_event(priya, AuditAction.CHARGE_CREATE, job.pk)
    store_second_factors(priya.user)
    UserSession.objects.create(user=priya.user, session_key="whales", ip="203.0.113.7")
    return job


def character_of(job: Job) -> Job:
    return Job.objects.get(tenant=job.tenant, kind=JobKind.CHARACTER)


def ours() -> set[str]:
    """The names of our own routes; allauth's have their tests with allauth."""
    names = {str(name) for name in get_resolver().reverse_dict if isinstance(name, str)}
    return {name for name in names if not name.startswith(("account_", "mfa_"))}


def address(name: str, job: Job, **other: object) -> str:
    args: dict[str, object] = {}
    if of := ROUTES[name].of:
        own = {f"{of}_id": OBJECTS[of](job), "job_id": job.pk}
        if of in ("export", "picture"):
            own["part_id"] = own.pop(f"{of}_id")
        if of == "entry":
            own["position"] = own.pop("entry_id")
        if of in ("voice", "sample"):
            own |= {"job_id": OBJECTS["voice"](job), "file_id": own[f"{of}_id"]}
        if of in ("character", "picture"):
            own["job_id"] = character_of(job).pk
        if of == "scene":
            own["storyboard_id"] = OBJECTS["storyboard"](job)
        part = ("job_id", "part_id")
        names = {
            "part": part,
            "export": part,
            "picture": part,
            "voice": ("job_id",),
            "character": ("job_id",),
            "sample": ("job_id", "file_id"),
            "entry": ("position",),
            "scene": ("storyboard_id", "scene_id"),
        }
        args |= {key: (other or own)[key] for key in names.get(of, (f"{of}_id",))}
    if name == "studio-step":
        args["step"] = "voice"
    if name == "storyboard-frame":
        args["name"] = "last_frame"
    if name == "character-step":
        args["step"] = "details"
    if name == "member-role-restorations":
        args["role"] = "producer"
    if name == "ledger-entry":
        args["position"] = 0
    return reverse(name, kwargs=args)


def test_every_route_of_ours_is_in_the_table() -> None:
    assert ours() == set(ROUTES) | OPEN


def test_no_two_routes_share_a_name_or_a_path() -> None:
    found = list(all_routes(get_resolver().url_patterns))
    assert [one for one, times in Counter(path for path, _ in found).items() if times > 1] == []
    names = Counter(name for _, name in found if name)
    assert [name for name, times in names.items() if times > 1] == []


def all_routes(
    patterns: list[URLPattern | URLResolver], prefix: str = ""
) -> Iterator[tuple[str, str]]:
    for pattern in patterns:
        path = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from all_routes(pattern.url_patterns, path)
        else:
            yield path, pattern.name or ""


@pytest.mark.parametrize(("name", "method"), METHODS)
def test_a_role_without_the_permission_sees_that(
    name: str,
    method: str,
    job: Job,
    team: dict[Role, Membership],
    client_of: Browser,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """pitfalls_21_29: and nobody's page asks the service; pages read the database."""
    monkeypatch.setattr(calls, "upstream_client", lambda: pytest.fail("the service was asked"))
    allowed = getattr(ROUTES[name], method)
    for role, member in team.items():
        before = transaction.savepoint()
        answer = getattr(client_of(member), method)(address(name, job))
        transaction.savepoint_rollback(before)
        if role not in allowed or (name in OWN_ALONE and role != Role.PRODUCER):
            assert answer.status_code == ROUTES[name].refused, role
        else:
            # An empty form is a sentence, not a refusal: 200, 302, 400 or 422.
            assert answer.status_code < 500, role
            assert answer.status_code not in (403, 405), role


@pytest.mark.parametrize("name", [name for name, route in ROUTES.items() if route.get])
def test_head_is_answered_as_get_is_without_a_body(
    name: str, job: Job, mira: Membership, priya: Membership, client_of: Browser
) -> None:
    """And does nothing: where a POST acts, HEAD only asks."""
    browser = client_of(priya if name in OWN_ALONE else mira)
    asked, head = browser.get(address(name, job)), browser.head(address(name, job))
    assert (head.status_code, head.content) == (asked.status_code, b"")
    assert not job.hidden_at and not type(job).objects.get(pk=job.pk).hidden_at


@pytest.mark.parametrize(("name", "method"), WITH_OBJECT)
def test_what_another_team_has_does_not_exist(
    name: str, method: str, job: Job, otto: Membership, client_of: Browser
) -> None:
    nothing: dict[str, object] = {f"{of}_id": uuid.uuid4() for of in OBJECTS}
    nothing |= {"membership_id": 999_999, "pack_id": 999_999, "rewrite_id": 999_999}
    nothing |= {"session_id": 999_999, "passkey_id": 999_999}
    nothing |= {"file_id": uuid.uuid4(), "position": 999_999}
    browser = client_of(otto)
    theirs = getattr(browser, method)(address(name, job))
    none = getattr(browser, method)(address(name, job, **nothing))
    assert (theirs.status_code, none.status_code) == (404, 404)
    assert b"Whales" not in theirs.content
    assert len(theirs.content) == pytest.approx(len(none.content), abs=80)


@pytest.mark.parametrize(("name", "method"), METHODS)
def test_who_has_not_signed_in_is_sent_to_sign_in(
    name: str, method: str, job: Job, client: Client
) -> None:
    answer = getattr(client, method)(address(name, job))
    assert answer.status_code == 302
    assert answer.url.startswith("/accounts/login/")


@pytest.mark.parametrize(("name", "method"), METHODS)
def test_a_disabled_person_is_sent_to_sign_in(
    name: str, method: str, job: Job, mira: Membership, client_of: Browser
) -> None:
    browser = client_of(mira)
    mira.user.is_active = False
    mira.user.save()
    assert getattr(browser, method)(address(name, job)).status_code == 302


def test_who_has_no_team_sees_that_at_every_route(job: Job, client: Client) -> None:
    client.force_login(UserFactory.create())
    for name, method in METHODS:
        answer = getattr(client, method)(address(name, job))
        assert answer.status_code == 403, name
        assert b"You are in no team" in answer.content, name
        assert b"Whales" not in answer.content, name


def test_nobody_is_led_back_to_an_address_that_only_takes_a_press(
    job: Job, mira: Membership, client_of: Browser
) -> None:
    """What a form was refused with is shown at such an address."""
    browser = client_of(mira)
    pressed = [name for name, route in ROUTES.items() if route.get is None and route.post]
    only = {one for one in pressed if browser.get(address(one, job)).status_code == 405}
    assert only == set(FORM_PAGES)
    for name in sorted(only):
        back = browser.post(reverse("theme"), {"next": f"{address(name, job)}?a=b"})["Location"]
        assert browser.get(back).status_code == 200, name


def test_pages_of_the_team_are_not_kept_by_the_browser(
    job: Job, mira: Membership, client_of: Browser
) -> None:
    for name, method in METHODS:
        if method == "get":
            answer = client_of(mira).get(address(name, job))
            assert "no-store" in answer.headers["Cache-Control"], name


def test_the_tokens_page_never_shows_a_token(
    job: Job, mira: Membership, client_of: Browser
) -> None:
    token = Token.objects.get(pk=job.token_id)
    assert f"sbx_{token.pk}".encode() not in client_of(mira).get("/tokens/").content


def test_without_redis_every_route_answers_or_says_that_it_works_again_soon(
    job: Job, mira: Membership, priya: Membership, settings: Any, tmp_path: Path
) -> None:
    nobody = f"unix://{tmp_path}/nobody.sock"
    settings.REDIS_URL = nobody
    settings.CACHES = {"default": {**settings.CACHES["default"], "LOCATION": nobody}}
    for name, method in METHODS:
        who = mira if Role.OWNER in getattr(ROUTES[name], method) else priya
        browser = Client(raise_request_exception=False)
        browser.force_login(who.user)
        before = transaction.savepoint()
        answer = getattr(browser, method)(address(name, job))
        transaction.savepoint_rollback(before)
        assert answer.status_code != 500, f"{method} {name}"
        if answer.status_code == 503:
            assert "Retry-After" in answer.headers, name
