"""An object of Northlight for every route that names one, and requests to all routes."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from datetime import timedelta
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.db import transaction
from django.http import HttpRequest
from django.template import Context, Template
from django.test import Client
from django.urls import URLPattern, URLResolver, reverse
from django.utils import timezone
from template_partials.templatetags.partials import TemplateProxy

from dashboard.models import (
    AgentApproval,
    AlertEvent,
    AlertWebhook,
    ApprovalRequest,
    AuditAction,
    AuditEvent,
    Batch,
    BatchRow,
    Budget,
    Delivery,
    Label,
    Membership,
    OutsideSource,
    OwnershipTransfer,
    Role,
    Series,
    VersionGroup,
    VideoVersion,
)
from dashboard.shared import middleware, shell
from dashboard.shared.audit_log import record_audit_event
from proxyapi.gateway.keys import create_key
from proxyapi.kinds.job_parts import store_parts
from proxyapi.models import (
    ChargeState,
    CreditPack,
    GatewayRequest,
    Job,
    JobKind,
    KeyScope,
    LedgerConflict,
    LedgerMirror,
    StoredFile,
)
from proxyapi.stored_files import store_file
from tests.dashboard.api_requests.requests import log_request
from tests.dashboard.shared.routes import ROUTES
from tests.factories import (
    AccountFactory,
    ChargeFactory,
    EntryFactory,
    InvitationFactory,
    JobFactory,
    MembershipFactory,
    PresetFactory,
    TokenFactory,
)
from tests.passkeys import store_second_factors
from tests.storyboards import create_storyboard

# An object of Northlight, found from Priya's video, whose draft waits for more budget.
OBJECTS: dict[str, Callable[[Job], object]] = {
    "job": lambda job: job.pk,
    "membership": lambda job: job.member.memberships.get().pk,
    "deactivated": lambda job: (
        Membership.with_deactivated.exclude(deactivated_at=None).get(team__tenant=job.tenant).pk
    ),
    "invitation": lambda job: job.tenant.team.invitations.get().pk,
    "transfer": lambda job: job.tenant.team.ownership_transfers.get().pk,
    "token": lambda job: job.token_id,
    "key": lambda job: job.tenant.keys.get(client_id="").pk,
    "agent": lambda job: job.tenant.keys.exclude(client_id="").get().pk,
    "items": lambda job: AgentApproval.objects.get(key__tenant=job.tenant).pk,
    "account": lambda job: job.account_id,
    "budget": lambda job: job.tenant.team.budgets.get().pk,
    "approval": lambda job: job.charges.get().approval_request.pk,
    "delivery": lambda job: Delivery.objects.get(event__team__tenant=job.tenant).pk,
    "webhook": lambda job: job.tenant.team.webhooks.get().pk,
    "pack": lambda job: job.tenant.credit_packs.get().pk,
    "source": lambda job: job.account.outside_sources.get().pk,
    "charge": lambda job: job.account.charges.get(state=ChargeState.UNKNOWN).pk,
    "label": lambda job: job.labels.get().pk,
    "group": lambda job: job.version.group_id,
    "change": lambda job: uuid.uuid4(),  # of the reader's own session
    "rewrite": lambda job: job.account.ledger_conflicts.get().pk,
    "series": lambda job: job.tenant.team.series.get().pk,
    "batch": lambda job: job.tenant.team.batches.get().pk,
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
    "request": lambda job: GatewayRequest.objects.get(tenant=job.tenant).pk,
    "entry": lambda job: AuditEvent.objects.get(target=str(job.pk)).position,
}
Requests = list[tuple[str, str]]
METHODS: Requests = [(name, "get") for name, route in ROUTES.items() if route.get is not None]
METHODS += [(name, "post") for name, route in ROUTES.items() if route.post is not None]
# Who has not signed in or has no team is stopped before a view and its method: each route once.
EACH_ROUTE = sorted(dict(METHODS).items())
WITH_OBJECT = [(name, method) for name, method in METHODS if ROUTES[name].of not in ("", "change")]
NOTHING = {
    **{f"{name}_id": uuid.uuid4() for name in OBJECTS},
    **dict.fromkeys(("membership_id", "pack_id", "rewrite_id"), 999_999),
    **dict.fromkeys(("passkey_id", "session_id", "source_id", "position"), 999_999),
    "file_id": uuid.uuid4(),
}


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
    Label.objects.create(team=priya.team, name="Whales", created_by=priya.user).jobs.add(job)
    OutsideSource.objects.create(
        account=account, name="Whales at night", text="x", daily_limit=1, created_by=priya.user
    )
    CreditPack.objects.create(tenant=job.tenant, plan_id=301, name="Whales in bulk", credits=500)
    alert = AlertEvent.objects.create(team=priya.team, subject="x", state="late", title="Whales")
    Delivery.objects.create(event=alert, channel="email", address="x@x.example", state="failed")
    AlertWebhook.objects.create(team=priya.team, url="https://x.example/x", ciphertext=b"x")
    PresetFactory.create(team=priya.team, created_by=priya.user, name="Whales in series")
    InvitationFactory.create(team=priya.team, address="whales@northlight.example")
    add_people(priya)
    add_batch(priya)
    made = create_key(priya.team.tenant, priya.user_id, "Whales in scripts", [KeyScope.RENDER])
    add_agent(priya)
    same = {"account": account, "token": token, "title": "Whales in fog"}
    voice = JobFactory.create(kind="clone", draft__settings={}, **same)
    store_file(voice, name="whales.wav", content_type="audio/wav", content=b"RIFF")
    character = JobFactory.create(kind=JobKind.CHARACTER, **same)
    picture = {"id": 3, "url": "http://127.0.0.1:8001/media/3.png"}
    store_parts(character, {"previews": [picture]}, ("previews",))
    store_file(character, name="whale", content_type="image/png", content=b"\x89PNG")
    record_audit_event(priya, AuditAction.CHARGE_CREATE, job.pk)
    log_request(made.key, path="/whales", job=job)
    store_second_factors(priya.user)
    UserSession.objects.create(user=priya.user, session_key="whales", ip="203.0.113.7")
    return job


def add_agent(priya: Membership) -> None:
    """One that asks for five items."""
    program = {"client_id": "https://whales.example/client.json", "allowance": 50}
    agent = create_key(
        priya.team.tenant, priya.user_id, "Whales in agents", [KeyScope.RENDER], **program
    )
    AgentApproval.objects.create(key=agent.key, item_count=5, credits=100, hours=24)


def add_batch(priya: Membership) -> None:
    batch = Batch.objects.create(
        team=priya.team, member=priya.user, name="Whales", headers=["title"], columns=["title"]
    )
    BatchRow.objects.create(batch=batch, number=1, cells=["Whales in rows"])
    Series.objects.create(
        team=priya.team,
        member=priya.user,
        name="Whales each week",
        preset=priya.team.presets.first(),
        weekdays=[0],
        time_zone="UTC",
        topics="Whales at dawn",
        monthly_credits=500,
        next_at=timezone.now() + timedelta(days=1),
    )


def add_people(priya: Membership) -> None:
    """Somebody who was deactivated, and an owner who hands the team over."""
    giver = MembershipFactory.create(team=priya.team, role=Role.OWNER)
    MembershipFactory.create(team=priya.team, role=Role.VIEWER, deactivated_at=timezone.now())
    soon = timezone.now() + timedelta(days=7)
    OwnershipTransfer.objects.create(
        team=priya.team, from_user=giver.user, to_user=priya.user, expires_at=soon
    )


def character_of(job: Job) -> Job:
    return Job.objects.get(tenant=job.tenant, kind=JobKind.CHARACTER)


def address(name: str, job: Job, **other: object) -> str:
    return address_of(name, job, {}, **other)


def address_of(name: str, job: Job, found: dict[str, object], **other: object) -> str:
    """The address of a route. What is looked up for it is kept in `found`, for those after it."""
    args: dict[str, object] = {}
    if of := ROUTES[name].of:
        if of not in found:
            found[of] = OBJECTS[of](job)
        own = {f"{of}_id": found[of], "job_id": job.pk}
        if of in ("export", "picture"):
            own["part_id"] = own.pop(f"{of}_id")
        if of == "deactivated":
            own["membership_id"] = own.pop("deactivated_id")
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
            "deactivated": ("membership_id",),
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
    if name == "batch-row":
        args["number"] = 1
    if name == "ledger-entry":
        args["position"] = 0
    return reverse(name, kwargs=args)


@pytest.fixture
def urls(job: Job) -> dict[str, str]:
    """The address of each route, with the objects of Northlight."""
    found: dict[str, object] = {}
    return {name: address_of(name, job, found) for name, _ in METHODS}


def sign_in(member: Membership) -> Client:
    """A browser in which that person has signed in; an error in a view is a 500 in it."""
    browser = Client(raise_request_exception=False)
    browser.force_login(member.user)
    return browser


def send(browser: Client, method: str, url: str, **headers: str) -> Any:
    """The answer. What the request changed is taken back: rows, and the cookies of the browser."""
    cookies = deepcopy(browser.cookies)
    with transaction.atomic():
        answer = getattr(browser, method)(url, headers=headers or None)
        transaction.set_rollback(True)
    browser.cookies = cookies
    return answer


def ask(
    browser: Client, urls: dict[str, str], requests: Requests = METHODS, **headers: str
) -> Iterator[tuple[str, str, Any]]:
    """Name, method and answer of each request, one after the other."""
    for name, method in requests:
        yield name, method, send(browser, method, urls[name], **headers)


@contextmanager
def unrendered() -> Iterator[None]:
    """A page is the sentence of its refusal, else the name of its template: views decide as always,
    and pages cost nothing."""

    def render_name(template: Template, context: Context) -> str:
        return str(context.get("sentence") or template.name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Template, "_render", render_name)
        patch.setattr(TemplateProxy, "_render", render_name)
        yield


@contextmanager
def read_once() -> Iterator[None]:
    """The memberships and the shell of each person are read at the first request. Not for walks
    that change what a person may do."""
    load_memberships, build_shell = middleware.load_own_memberships, shell.build_app_shell
    memberships: dict[object, list[Membership]] = {}
    shells: dict[int, shell.AppShell] = {}

    def own_memberships(request: HttpRequest) -> list[Membership]:
        if request.user.pk not in memberships:
            memberships[request.user.pk] = load_memberships(request)
        return deepcopy(memberships[request.user.pk])

    def own_shell(membership: Membership) -> shell.AppShell:
        if membership.pk not in shells:
            shells[membership.pk] = build_shell(membership)
        return shells[membership.pk]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(middleware, "load_own_memberships", own_memberships)
        patch.setattr(shell, "build_app_shell", own_shell)
        yield


def miss(name: str, method: str, who: object, answer: Any) -> str:
    """A line for the list of answers that were wrong."""
    error = getattr(answer, "exc_info", None)
    location = answer.headers.get("Location", "")
    reason = f"{error[0].__name__}: {error[1]}" if error else location
    return f"{method} {name} as {who}: {answer.status_code} {reason}".rstrip()


def all_routes(
    patterns: list[URLPattern | URLResolver], prefix: str = ""
) -> Iterator[tuple[str, str]]:
    for pattern in patterns:
        path = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from all_routes(pattern.url_patterns, path)
        else:
            yield path, pattern.name or ""
