"""A state machine over the world: everything that moves credits, in any order.

After every step: balance == opening + sum of the ledger, in the API and in the audit; rows
that were read keep their ordinals; each new row and charge is what the model explains.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from proxyapi.sandbox.app import create_app
from proxyapi.sandbox.clock import FROZEN_START, SandboxClock
from proxyapi.sandbox.media_makers import OnDone
from tests.contract import staging
from tests.sandbox.asgi_client import ClientAnswer, call_app
from tests.sandbox.conftest import READY_SETTINGS
from tests.sandbox.ledger_model import DAY, LedgerModel

BROKEN_ANSWERS = ("close", "reset", "half_body", "malformed_json")  # the client does not learn it
FAULTS = (None,) * 5 + (*BROKEN_ANSWERS, "drop_meta", "latency")
OPS = (
    "script", "scrape", "render", "render", "retry", "export", "regenerate", "clip", "clip",
    "storyboard", "ideas", "train", "clone",
)  # fmt: skip


class NullMaker:
    """A maker that makes nothing, at once."""

    def begin(self, film: dict[str, Any], path: Path, done: OnDone) -> None:
        done(None)


class LedgerStateMachine(RuleBasedStateMachine):
    folder: Path  # for media; nothing is written there
    loop: asyncio.Runner
    app: Any = None

    def __init__(self) -> None:
        super().__init__()
        if type(self).app is None:
            made = create_app(
                media_dir=self.folder, maker=NullMaker(), clock=SandboxClock("frozen"), seed=1
            )
            type(self).app = made
        self.world = self.app.state.world
        self.pays = True
        self.last = ""
        self.read: tuple[dict[str, Any], list[dict[str, Any]]] | None = None

    def call(self, method: str, path: str, body: Any = None, **wanted: Any) -> ClientAnswer:
        if method != "GET":
            self.read = None
        return self.loop.run(call_app(self.app, method, path, body=body, **wanted))

    def api(self, method: str, path: str, body: Any = None, **wanted: Any) -> ClientAnswer:
        return self.call(method, f"/v2{path}", body, token=self.token, **wanted)

    def control(self, method: str, path: str, body: Any = None) -> Any:
        heard = self.call(method, f"/_sandbox/{path}", body)
        assert heard.status < 300, heard
        return heard.body

    @initialize(credits=st.integers(0, 400), monthly=st.sampled_from([400, 1000, 3000]))
    def open(self, credits: int, monthly: int) -> None:
        self.world.clock.set_mode("frozen", now=FROZEN_START)
        made = self.control("POST", "reset", {"scenario": "paid", "seed": 5})["accounts"][0]
        self.token, self.path = made["token"], f"accounts/{made['account_id']}"
        self.prints = made["fingerprints"]
        lifted = {"rate_limit": 10**9, "previews_per_minute": 10**9, "scraping_pool": 10**9}
        self.control("PUT", "settings", {**lifted, "films": "made", "clone_slots": 0})
        wanted = {"credits": credits, "monthly_credits": monthly}
        self._furnish()
        self.control("PATCH", self.path, wanted)
        self.books = LedgerModel(opening=credits, monthly=monthly, balance=credits)
        self.books.charges = 2  # the renders of the furniture, which were free

    def _furnish(self) -> None:
        def made(method: str, path: str, body: Any = None, **wanted: Any) -> Any:
            heard = self.api(method, path, body, **wanted)
            assert heard.status < 300, heard
            return heard.body["data"]

        def film() -> int:
            number = made("POST", "/faceless", {"type": "ai-visuals"})["id"]
            made("PATCH", f"/faceless/{number}", READY_SETTINGS)
            return int(number)

        self.video, self.done, self.failed = film(), film(), film()
        self.control("PUT", "settings", {"costs": {"faceless_render": {"credits": 0}}})
        made("POST", f"/faceless/{self.done}/render")
        self.fail_next("faceless")
        made("POST", f"/faceless/{self.failed}/render")
        self.control("POST", "clock/advance", {"seconds": 60})
        self.control("PUT", "settings", {"costs": {"faceless_render": {"credits": 10}}})
        self.asset = made("GET", f"/faceless/{self.done}")["assets"][0]["id"]
        self.page = made("POST", "/faceless", {"type": "url-based"})["id"]
        self.board = made("POST", "/text-to-scene", {"mode": "manual"})["id"]
        scenes = [{"raw_video_prompt": staging.PROMPT}] * 2
        made("POST", f"/text-to-scene/{self.board}/scenes", {"scenes": scenes})
        self.person = made("POST", "/characters", **encode_form(staging.photo()))["id"]
        genre = made("GET", "/characters/genres")[0]["id"]
        preview = made("POST", f"/characters/{self.person}/preview", {"genre_id": genre})
        number = preview["previews"][0]["id"]
        self.facts = {"preview_id": number, "name": "Mira", "age": 34, "gender": "female"}

    def request(self, op: str) -> tuple[str, str, dict[str, Any]]:
        """Method, path and what is sent; the same each time, as a repetition is."""
        video, clone = f"/faceless/{self.video}", staging.clone_form(purchase_addon="true")
        regenerate = f"/ai-visuals/{self.done}/assets/{self.asset}/regenerate"
        scrape = {"url": staging.PAGE, "duration": 30}
        idea = {"keyword": "sourdough", "network": "youtube"}
        requests: dict[str, tuple[str, str, dict[str, Any]]] = {
            "script": ("PUT", f"{video}/scripts", {"body": staging.SCRIPT}),
            "scrape": ("POST", f"/faceless/{self.page}/scrape-script", {"body": scrape}),
            "render": ("POST", f"{video}/render", {}),
            "retry": ("POST", f"/faceless/{self.failed}/retry", {}),
            "export": ("POST", f"/faceless/{self.done}/export", {}),
            "regenerate": ("POST", regenerate, {}),
            "clip": ("POST", "/text-to-video", {"body": staging.CLIP}),
            "storyboard": ("POST", f"/text-to-scene/{self.board}/render", {}),
            "ideas": ("POST", "/ideas/discover", {"body": idea}),
            "train": ("POST", f"/characters/{self.person}/train", {"body": self.facts}),
            "clone": ("POST", "/voice-clones", encode_form(clone)),
        }  # fmt: skip
        return requests[op]

    @rule(op=st.sampled_from(OPS), fault=st.sampled_from(FAULTS), before=st.booleans())
    def buy(self, op: str, fault: str | None, before: bool) -> None:
        method, path, wanted = self.request(op)
        self.last = op
        if fault is not None:
            when = "before" if before else "after"
            wish = {"action": fault, "when": when, "times": 1, "ms": 0.001}
            self.control("POST", "faults", {**wish, "match": {"method": method}})
        heard = self.api(method, path, **wanted)
        self.control("DELETE", "faults")
        told = fault is None or fault in ("drop_meta", "latency")
        assert (heard.status == 0) <= (not told)
        self.check_step(key=f"{method} {path}", told=told, heard=heard)

    @precondition(lambda self: self.last)
    @rule(pause=st.sampled_from([0, 2, 4]), fault=st.sampled_from((None, None, None, "close")))
    def buy_again(self, pause: int, fault: str | None) -> None:
        """As an impatient client does, or a second person."""
        self.wait(pause)
        self.buy(self.last, fault, False)

    @rule(op=st.sampled_from(OPS))
    def buy_more(self, op: str) -> None:
        self.buy(op, None, False)

    def check_step(
        self, *, key: str = "", told: bool = True, other: int | None = None, heard: Any = None
    ) -> None:
        """Hold what is new in the books against the model."""
        books, now = self.books, self.world.now
        audit, rows = self.check_audit()
        charges = sorted(
            (it for group in audit["charges"].values() for it in group), key=lambda it: it["number"]
        )
        assert [(it["label"], it["transaction_type"], int(it["credit_spend"])) for it in rows][
            : len(books.rows)
        ] == books.rows, "ordinals moved"
        new = charges[books.charges :]
        assert len(new) <= 1
        books.charges = len(charges)
        debit = books.check_charge(new[0], key, now, told=told) if new else 0
        if heard is not None and heard.status and "meta" in heard.body and new:
            assert heard.body["meta"]["credits"]["cost"] == debit
        fresh = rows[len(books.rows) :]
        back = sum(int(it["credit_spend"]) for it in fresh if it["transaction_type"] == "Refund")
        books.balance += other or 0
        top_up = 0
        if debit and books.top_ups.due(now, books.balance + back, books.monthly):
            top_up = books.top_ups.charge(now, succeeds=self.pays)
        books.check_new_rows(fresh, debit, top_up, other)
        assert [it["number"] for it in audit["double_charges"]] == books.doubles

    def check_audit(self) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """The audit and the ledger, as they are since the last change."""
        if self.read is None:
            self.read = (self.control("GET", f"{self.path}/money"), self.rows("ASC"))
        return self.read

    def rows(self, order: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        path: str | None = f"/v2/credits/history?order={order}&per_page=50"
        while path:
            body = self.call("GET", path, token=self.reader).body
            found += body["data"]
            path = (body["links"]["next"] or "").partition("sandbox")[2]
        return found

    @property
    def reader(self) -> str:
        """A token that is never revoked: the model's own."""
        if not hasattr(self, "_reader"):
            self._reader = self.control("POST", f"{self.path}/tokens")["token"]
        return str(self._reader)

    @rule(seconds=st.sampled_from([1, 2, 4, 5, 13, 60, 3600, DAY - 1, DAY, DAY + 1, 3 * DAY]))
    def wait(self, seconds: int) -> None:
        self.control("POST", "clock/advance", {"seconds": seconds})
        self.check_step()

    @rule(past=st.sampled_from([-1, 0, 1]))
    def to_midnight(self, past: int) -> None:
        left = DAY - self.world.now % DAY + past
        self.control("POST", "clock/advance", {"seconds": max(0, left)})
        self.check_step()

    @rule(credits=st.integers(-300, 200))
    def spend_elsewhere(self, credits: int) -> None:
        heard = self.call("POST", f"/_sandbox/{self.path}/spend", {"credits": credits})
        assert (heard.status == 200) == (credits <= self.books.balance)
        self.check_step(other=-credits if heard.status == 200 else None)

    @rule(credits=st.integers(0, 500))
    def correct_the_opening(self, credits: int) -> None:
        self.control("PATCH", self.path, {"credits": credits})
        self.books.opening += credits - self.books.balance
        self.books.balance = credits

    @rule(units=st.sampled_from([1, 2, 5, 150]), enabled=st.booleans())
    def choose_top_up(self, units: int, enabled: bool) -> None:
        wish = {"enabled": enabled, "type": "dynamic-credits", "units": units}
        if self.api("PUT", "/account/auto-topup", wish).status != 200:
            return
        self.books.top_ups.enabled = enabled
        if enabled:
            self.books.top_ups.units = units

    @rule()
    def turn_the_payment_method(self) -> None:
        self.pays = not self.pays
        wanted = "succeeds" if self.pays else "fails"
        self.control("PUT", "settings", {"top_up_charge": wanted})

    @rule(kind=st.sampled_from(["faceless", "text-to-video", "character", "storyboard"]))
    def fail_next(self, kind: str) -> None:
        self.control("POST", "outcomes", {"kind": kind, "statuses": ["processing", "failed"]})

    @rule(refunds=st.booleans(), delay=st.sampled_from([0, 3600]))
    def change_refunds(self, refunds: bool, delay: int) -> None:
        wanted = {"failed_render_refunds": refunds, "failed_training_refunds": refunds}
        self.control("PUT", "settings", {**wanted, "clip_refund_seconds": delay})

    @rule(plan=st.sampled_from(["Studio", "Starter"]), monthly=st.sampled_from([400, 1000]))
    def change_plan(self, plan: str, monthly: int) -> None:
        self.control("PATCH", self.path, {"plan": plan, "monthly_credits": monthly})
        self.books.monthly = monthly

    @rule(way=st.sampled_from(["paid", "paid", "trial", "expired"]))
    def change_subscription(self, way: str) -> None:
        self.control("PATCH", self.path, {"subscription": way})

    @rule()
    def revoke_and_issue(self) -> None:
        self.control("DELETE", f"tokens/{self.prints[0]}")
        assert self.api("GET", "/me").status == 401
        made = self.control("POST", f"{self.path}/tokens")
        self.token, self.prints = made["token"], [made["fingerprint"]]

    @rule()
    def restore_snapshot(self) -> None:
        before = self.control("GET", "snapshot")
        self.control("PUT", "snapshot", before)
        after = self.control("GET", "snapshot")
        changed = [
            (old, new)
            for kind in before
            for old, new in zip(before[kind], after[kind], strict=False)
            if old != new
        ]
        assert after == before, changed

    @precondition(lambda self: hasattr(self, "books"))
    @invariant()
    def ledger_balances(self) -> None:
        books = self.books
        audit, rows = self.check_audit()
        assert rows == self.rows("DESC")[::-1]
        total = sum(int(row["credit_spend"]) for row in rows)
        assert audit["balanced"] and audit["ledger_sum"] == total
        assert audit["opening"] == books.opening
        assert books.opening + total == books.balance == audit["balance"] >= 0
        me = self.call("GET", "/v2/me", token=self.reader).body["data"]["credits"]
        assert me["remaining"] == books.balance and 0 <= me["extra"] <= books.balance
        days = [it["at"][:10] for it in audit["top_ups"]]
        assert all(days.count(day) <= 3 for day in days)

    @precondition(lambda self: hasattr(self, "books"))
    @invariant()
    def the_preference_is_what_the_rules_leave(self) -> None:
        heard = self.call("GET", "/v2/account/auto-topup", token=self.reader)
        if heard.status == 200:  # not while the subscription is none
            told, model = heard.body["data"], self.books.top_ups
            shown = (told["enabled"], told["units"] or 0, told["consecutive_failures"])
            assert shown == (model.enabled, model.units, model.failures)


def encode_form(wanted: dict[str, Any]) -> dict[str, Any]:
    """A form with files as it goes over the wire."""
    request = httpx.Request("POST", "/", **wanted)
    return {"content": request.read(), "kind": request.headers["Content-Type"]}
