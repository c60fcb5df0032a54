"""The gate of /v2: who may call what, checked in the upstream's order.

Token, then paid subscription, then ownership; only then does a handler look at the body and at the
preconditions (spec: Authentication 4). The routes that `make_route_class` makes run it before the
body is even read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from hashlib import sha256
from typing import Annotated, Any

from fastapi import Depends, Request, Response
from fastapi.routing import APIRoute
from starlette.routing import Match
from starlette.types import Scope

from proxyapi.sandbox import errors
from proxyapi.sandbox.records import Account, Charge, Row, Token
from proxyapi.sandbox.world import World

FindRow = Callable[[World, str], Row | None]
# What a person chose for a resource; its ids, states and files are other ones in each copy.
INTENT_FIELDS = {"type", "mode", "title", "topic", "prompt", "script", "settings", "scenes", "name"}
FindPart = Callable[[World, Any, str], Any]
AcceptsMethod = Callable[[World, str], bool]  # of a method
Handler = Callable[[Request], Coroutine[Any, Any, Response]]


@dataclass(slots=True)
class ApiCall:
    """One request that has passed the gate.

    `owned` is the resource named in its path, `part` the part of it that is named after it.
    """

    world: World
    account: Account
    request: Request
    digest: str  # of method, path and body
    intent: str  # digest of operation, body and the content of the resource, whichever it is
    visit: int  # the journal's number
    owned: Any = None
    part: Any = None

    @property
    def charges(self) -> list[Charge]:
        """What this request was charged so far, for the front to settle."""
        charges: list[Charge] = self.request.scope["sandbox.charges"]
        return charges

    @property
    def delay_seconds(self) -> float:
        """Seconds of the world's clock that the answer is kept back."""
        return float(self.request.scope["sandbox.wait"][0])

    def delay_answer(self, seconds: float) -> None:
        """Keep the answer back so long, the work being done; a frozen clock does not wait."""
        if self.world.clock.state.mode != "frozen":
            self.request.scope["sandbox.wait"][0] = seconds


class ServedRoute(APIRoute):
    """`serves(world, method)` says whether a setting lets the method in; else it is 405, like one
    that no route has."""

    serves: AcceptsMethod | None = None

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, inner = super().matches(scope)
        if match is not Match.FULL or self.serves is None:
            return match, inner
        served = self.serves(scope["app"].state.world, scope["method"])
        return (match, inner) if served else (Match.NONE, {})  # its siblings answer 405


def make_route_class(
    *,
    paid: bool = True,
    find: FindRow | None = None,
    part: FindPart | None = None,
    account_area: bool = False,
    key: str = "integer",
    feature: str | None = None,
    serves: AcceptsMethod | None = None,
) -> type[APIRoute]:
    """A route class whose handlers are reached only through the gate.

    `find(world, text)` fetches the row that the path's first parameter names, and
    `part(world, row, text)` what a second one names inside that row; None is a 404, and so is
    another account's row. Whoever wants an integer reads the text with `parse_row_id`. `key` is the
    type of the first parameter in /openapi.json. `feature` is what the account's plan must
    have, checked after the subscription. `serves`: of `ServedRoute`. `paid=False` is for the
    three reads that work without a subscription.
    """

    class GatedRoute(ServedRoute):
        subscribers_only, plan_feature = paid, feature  # for the documentation

        def __init__(self, path: str, *args: Any, **wanted: Any) -> None:
            self.serves = serves
            wanted["openapi_extra"] = _with_parameters(path, key, wanted.get("openapi_extra"))
            super().__init__(path, *args, **wanted)

        def get_route_handler(self) -> Handler:
            inner = super().get_route_handler()

            async def handle(request: Request) -> Response:
                world: World = request.app.state.world
                account = _account(world, request)
                if paid:
                    _check_subscription(account)
                if feature is not None:
                    _check_feature(world, account, request, feature)
                owned = _owned(world, account, request, find) if find else None
                inside = _part(world, owned, request, part) if part else None
                _check_email(world, account, request, account_area, paid)
                if "include" in request.query_params:
                    raise errors.WrongArguments("No include is available on this endpoint.")
                same = _identify(self.path_format, request, owned)
                request.state.call = ApiCall(world, account, request, *same, owned, inside)
                return await inner(request)

            return handle

    return GatedRoute


def _identify(path_format: str, request: Request, owned: Row | None) -> tuple[str, str, int]:
    """The digest of the request, that of its intent, and its number in the journal. Requests that
    ask for the same have one intent, be it for another copy of a resource."""
    digest, content, visit = request.scope["sandbox.request"]
    wanted = owned.model_dump(mode="json", include=INTENT_FIELDS) if owned else {}
    for scene in wanted.get("scenes", []):
        for name in scene.keys() - {"raw_video_prompt", "duration"}:
            del scene[name]
    intent = sha256(f"{path_format} {content} {json.dumps(wanted)}".encode()).hexdigest()
    return digest, intent, visit


def _account(world: World, request: Request) -> Account:
    token: Token | None = request.scope["sandbox.token"]
    account = world.accounts.get(token.account_id) if token and not token.revoked else None
    if account is None:
        raise errors.Unauthorized
    if account.lapsing and account.ends_at is not None and world.now >= account.ends_at:
        account.subscription, account.lapsing = "expired", False
        world.accounts.put(account)
    return account


def _check_subscription(account: Account) -> None:
    if account.subscription == "trial":
        raise errors.PaidSubscriptionRequired
    if account.subscription != "paid":
        raise errors.SubscriptionRequired


def _check_feature(world: World, account: Account, request: Request, feature: str) -> None:
    closed = request.method != "GET" or world.settings.missing_feature_closes == "everything"
    if closed and feature not in account.features:
        raise errors.FeatureNotAllowed


def _check_email(
    world: World, account: Account, request: Request, account_area: bool, paid: bool
) -> None:
    if account.email_verified:
        return
    settings = world.settings
    if account_area:
        closed = settings.unverified_email_account_area
        if closed == "all" or (closed == "top_up" and paid):
            raise errors.EmailConflict
    elif request.method != "GET" or settings.unverified_email_refuses == "everything":
        raise errors.EmailNotVerified


def parse_row_id(text: str) -> int:
    """The id that a path segment writes; 0, which nothing has, if it writes none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else 0


def _owned(world: World, account: Account, request: Request, find: FindRow) -> Row | None:
    if not request.path_params:
        return None
    row = find(world, next(iter(request.path_params.values())))
    if row is None or getattr(row, "account_id", None) != account.id:
        raise errors.NotFound
    return row


def _part(world: World, owned: Row | None, request: Request, part: FindPart) -> Any:
    if len(request.path_params) < 2:
        return None
    found = part(world, owned, list(request.path_params.values())[1])
    if found is None:
        raise errors.NotFound
    return found


def _with_parameters(path: str, key: str, extra: dict[str, Any] | None) -> dict[str, Any]:
    """The handlers do not take the path's parameters, so they are described here."""
    names = re.findall(r"{(\w+)}", path)
    described = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "integer" if place else key},
        }
        for place, name in enumerate(names)
    ]
    return {**(extra or {}), "parameters": described} if described else {**(extra or {})}


async def get_call(request: Request) -> ApiCall:
    call: ApiCall = request.state.call
    return call


Caller = Annotated[ApiCall, Depends(get_call)]
