"""Clips and renders: what is charged, what is refused with its sentence, and that nothing is sent
twice or above what was shown."""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from django.urls import reverse
from django.utils import timezone

from dashboard.models import ApprovalRequest, Budget, BudgetPeriod, Membership
from proxyapi.models import Charge, ChargeState, Job, JobState, Storyboard, Token
from tests.dashboard.storyboards.boards import (
    CLIPS,
    HTMX,
    Browser,
    give_clips,
    give_price,
    order,
    reload,
    send,
)
from tests.storyboards import (
    create_storyboard,
    create_storyboard_token,
    models_without,
    reload_account,
)

pytestmark = pytest.mark.usefixtures("template_contexts")
RENDER = "text_to_scene.render"


@pytest.fixture
def token(priya: Membership) -> Token:
    return create_storyboard_token(priya)


@pytest.fixture
def board(priya: Membership, token: Token) -> Storyboard:
    return create_storyboard(priya, token, "A boat leaves", "It meets a storm")


@pytest.fixture
def ready_film(priya: Membership, board: Storyboard) -> Job:
    job = send(priya, board)
    give_clips(job, *board.scenes.all())
    give_price(job, 24)
    return job


def ids_of(board: Storyboard) -> list[str]:
    return [str(scene.pk) for scene in board.scenes.all()]


def ask(client: Any, board: Storyboard, name: str, ids: list[str] | None = None) -> Any:
    """The price question, as a page has it."""
    query = {"scenes": ids} if ids is not None else {}
    url = reverse(name, args=[board.pk])
    return client.get(url, query, headers=HTMX).context["question"]


def answer(client: Any, question: Any, **changes: Any) -> Any:
    data = {
        **question.hidden_fields,
        "nonce": question.idempotency_key,
        "price": question.price,
        **changes,
    }
    return client.post(question.url, data, headers=HTMX)


def test_the_question_lists_each_clip_with_what_is_held(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    question = ask(client_of(priya), board, "storyboard-clips", ids_of(board))

    assert question.heading == "Generate 2 clips?"
    assert question.summary == "Scenes 1 and 2 with Brook, 10 s, 16:9, 720p."
    assert [(row.label, row.amount) for row in question.parts] == [
        ("Scene 1, no clip yet, 5 s", Decimal(10)),
        ("Scene 2, no clip yet, 5 s", Decimal(10)),
    ]
    assert (question.price, question.hold, question.is_exact) == (20, 22, False)
    assert "promises no refund" in question.notice


def test_without_scripts_the_question_is_a_page(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    client, urls = client_of(priya), ("storyboard-clips", "storyboard-render")
    pages = [client.get(reverse(name, args=[board.pk])).content.decode() for name in urls]

    assert all("</html>" in page and "<dialog" in page for page in pages)


def test_clips_are_charged_with_our_scenes_in_a_copy(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    client, ids = client_of(priya), ids_of(board)
    response = answer(client, ask(client, board, "storyboard-clips", ids))

    charge = Charge.objects.get()
    assert response.headers["HX-Redirect"].startswith(reverse("storyboard", args=[board.pk]))
    assert (charge.operation, charge.body) == (CLIPS, {"scenes": sorted(ids)})
    assert (charge.state, charge.quote) == (ChargeState.HELD, Decimal(20))
    assert charge.job == reload(board).copy


def test_a_form_that_is_submitted_twice_is_sent_once(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    client = client_of(priya)
    question = ask(client, board, "storyboard-clips", ids_of(board))

    answers = [answer(client, question) for _ in range(2)]

    assert all("HX-Redirect" in it.headers for it in answers)
    assert Charge.objects.count() == 1


def test_two_tabs_pay_once(priya: Membership, board: Storyboard, client_of: Browser) -> None:
    client = client_of(priya)
    questions = [ask(client, board, "storyboard-clips", ids_of(board)) for _ in range(2)]

    answer(client, questions[0])
    refused = answer(client, questions[1])

    assert Charge.objects.count() == 1
    assert "Nothing was sent." in refused.context["question"].refusal


def test_a_scene_that_changed_since_the_question_is_not_sent(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    client = client_of(priya)
    question = ask(client, board, "storyboard-clips", ids_of(board))
    board.scenes.filter(pk=ids_of(board)[0]).update(prompt="A ferry leaves")

    refused = answer(client, question)

    assert "was changed since this was shown" in refused.context["question"].refusal
    assert not Charge.objects.exists()
    assert reload(board).copy is None


def test_a_price_that_moved_is_shown_again_and_nothing_is_sent(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    client = client_of(priya)
    question = ask(client, board, "storyboard-clips", ids_of(board))
    dearer = [
        {**model, "cost": [{"credits_per_second": "2.5"}]} for model in models_without("marlow-02")
    ]
    reload_account(board.account, clip_models=dearer)

    refused = answer(client, question).context["question"]

    assert refused.refusal == (
        "The price is now 26 cr, it was 20 cr when you opened this. Nothing was sent."
    )
    assert (refused.price, refused.idempotency_key) == (26, question.idempotency_key)
    assert not Charge.objects.exists()


def test_an_engine_withdrawn_meanwhile_is_said_and_nothing_is_sent(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    client = client_of(priya)
    question = ask(client, board, "storyboard-clips", ids_of(board))
    reload_account(board.account, clip_models=models_without("brook"))

    refused = answer(client, question).context["question"]

    assert "Nothing was sent." in refused.refusal
    assert not refused.can_confirm
    assert not Charge.objects.exists()


def test_above_the_budget_an_approval_is_requested(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    Budget.objects.create(
        team=priya.team, member=priya.user, period=BudgetPeriod.MONTH, hard=Decimal(15)
    )
    client = client_of(priya)
    question = ask(client, board, "storyboard-clips", ids_of(board))
    assert question.needs_approval

    refused = answer(client, question)
    assert "Not sent" in refused.context["question"].refusal
    assert not Charge.objects.exists()
    assert reload(board).copy is None

    answer(client, refused.context["question"], ask="1", note="For Friday")
    charge = Charge.objects.get()
    assert charge.state == ChargeState.DRAFT
    assert ApprovalRequest.objects.get().note == "For Friday"


def test_a_changed_scene_is_generated_in_a_new_copy_with_the_others(
    priya: Membership, board: Storyboard, ready_film: Job, client_of: Browser
) -> None:
    board.scenes.filter(pk=ids_of(board)[0]).update(prompt="A ferry leaves")
    client = client_of(priya)
    question = ask(client, board, "storyboard-clips", ids_of(board))
    assert "the clip of 1 other scene is made again, ≈ 10 cr" in question.notice

    answer(client, question)

    charge = Charge.objects.get()
    assert charge.job != ready_film
    assert charge.job == reload(board).copy
    assert charge.quote == Decimal(20)


def test_a_changed_scene_brings_the_clips_that_are_lost_by_it(
    priya: Membership, board: Storyboard, ready_film: Job, client_of: Browser
) -> None:
    ids, client = ids_of(board), client_of(priya)
    board.scenes.filter(pk=ids[0]).update(prompt="A ferry leaves")
    url = reverse("storyboard-clips", args=[board.pk])

    question = client.get(url, {"scene": ids[0]}, headers=HTMX).context["question"]
    assert [row.label for row in question.parts] == [
        "Scene 1, changed, 5 s",
        "Scene 2, made again, 5 s",
    ]

    alone = ask(client, board, "storyboard-clips", ids[:1])
    assert "Scene 2 is not in this request and needs a clip later." in alone.notice


def test_a_regenerated_scene_that_is_unchanged_stays_in_its_copy(
    priya: Membership, board: Storyboard, ready_film: Job, client_of: Browser
) -> None:
    ready_film.parts.filter(position=1).update(status="failed", failure_message="Timed out.")
    client = client_of(priya)

    answer(client, ask(client, board, "storyboard-clips", ids_of(board)[:1]))

    assert Charge.objects.get().job == ready_film


def test_a_new_copy_waits_for_clips_that_are_being_made(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    job = send(priya, board)
    scenes = list(board.scenes.all())
    give_clips(job, scenes[0])
    give_clips(job, scenes[1], status="processing")
    board.scenes.filter(pk=scenes[0].pk).update(prompt="A ferry leaves")

    question = ask(client_of(priya), board, "storyboard-clips", ids_of(board)[:1])

    assert not question.can_confirm
    assert question.unmet[0].startswith("Clips of this storyboard are being made")


def test_the_render_is_charged_at_its_exact_price(
    priya: Membership, board: Storyboard, ready_film: Job, client_of: Browser
) -> None:
    client = client_of(priya)
    question = ask(client, board, "storyboard-render")
    assert (question.price, question.hold, question.is_exact) == (24, 24, True)

    answer(client, question)

    charge = Charge.objects.get()
    assert (charge.operation, charge.job, charge.hold) == (RENDER, ready_film, Decimal(24))


def test_a_render_at_another_price_than_shown_is_refused(
    priya: Membership, board: Storyboard, ready_film: Job, client_of: Browser
) -> None:
    client = client_of(priya)
    question = ask(client, board, "storyboard-render")
    give_price(ready_film, 30)

    refused = answer(client, question).context["question"]

    assert "The price is now 30 cr, it was 24 cr" in refused.refusal
    assert not Charge.objects.exists()


def test_a_render_with_a_scene_missing_says_what_is_missing(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    job = send(priya, board)
    give_clips(job, board.scenes.all()[0])
    give_price(job, 24)
    client = client_of(priya)
    question = ask(client, board, "storyboard-render")
    assert not question.can_confirm

    refused = answer(client, question).context["question"]

    assert refused.refusal == "1 clip is missing or changed. Nothing was sent."
    assert not Charge.objects.exists()


def test_a_render_is_not_requested_twice(
    priya: Membership, board: Storyboard, ready_film: Job, client_of: Browser
) -> None:
    client = client_of(priya)
    first, second = (ask(client, board, "storyboard-render") for _ in range(2))

    answer(client, first)
    answer(client, first)
    answer(client, second)

    assert Charge.objects.count() == 1


def test_a_price_is_requested_once(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    url, client = reverse("storyboard-price", args=[board.pk]), client_of(priya)
    page = client.post(url, headers=HTMX).content.decode()
    due_at = reload(board).copy.draft.quote_due_at  # type: ignore[union-attr]
    client.post(url, headers=HTMX)

    assert "asking" in page
    assert due_at is not None
    assert reload(board).copy.draft.quote_due_at == due_at  # type: ignore[union-attr]
    assert not Charge.objects.exists()


def test_no_price_replaces_a_copy_with_clips(
    priya: Membership, board: Storyboard, ready_film: Job, client_of: Browser
) -> None:
    board.scenes.filter(pk=ids_of(board)[0]).update(prompt="A ferry leaves")

    url = reverse("storyboard-price", args=[board.pk])
    page = client_of(priya).post(url, headers=HTMX).content.decode()

    assert "The film is sent anew before its price can be asked for." in page
    assert reload(board).copy == ready_film


def test_nothing_is_generated_while_the_film_renders(
    priya: Membership, board: Storyboard, ready_film: Job, client_of: Browser
) -> None:
    Job.objects.filter(pk=ready_film.pk).update(state=JobState.RUNNING, next_poll_at=timezone.now())

    question = ask(client_of(priya), board, "storyboard-clips", ids_of(board))

    assert question.unmet == ("The film is rendering. Scenes are locked until it ends.",)


def test_the_sum_follows_the_ticks(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    url = reverse("storyboard-clips", args=[board.pk])
    query = {"part": "sum", "scenes": ids_of(board)[:1]}
    page = client_of(priya).get(url, query, headers=HTMX).content.decode()

    assert "Generate 1 clip" in page
    assert "≈ 10 cr" in page


def test_a_viewer_generates_nothing(
    vera: Membership, board: Storyboard, client_of: Browser
) -> None:
    client = client_of(vera)
    urls = [reverse(name, args=[board.pk]) for name in ("storyboard-clips", "storyboard-render")]

    assert [client.get(url).status_code for url in urls] == [403, 403]
    post = {"nonce": uuid4(), "price": 1, "scenes": ids_of(board)}
    assert [client.post(url, post).status_code for url in urls] == [403, 403]


def test_an_order_waiting_for_approval_is_said(
    priya: Membership, board: Storyboard, client_of: Browser
) -> None:
    job = send(priya, board)
    order(job, priya, [board.scenes.all()[0]], ChargeState.DRAFT, sent_at=None)

    page = client_of(priya).get(reverse("storyboard", args=[board.pk])).content.decode()

    assert "20 cr for 1 clip wait for an approval." in page
