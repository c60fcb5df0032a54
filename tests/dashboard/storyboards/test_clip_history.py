"""The clips of a scene: what each cost, who had it made, and why one failed."""

from __future__ import annotations

from decimal import Decimal

import pytest

from dashboard.models import Membership
from dashboard.shared.storyboards.clip_prices import split_clip_cost
from dashboard.storyboards.queries.clip_history import ClipHistory, load_clip_history
from proxyapi.models import ChargeState, JobPart, Storyboard, Token
from proxyapi.models.job_part import EARLIER_CLIPS
from tests.dashboard.storyboards.boards import give_clips, order, reload, send
from tests.storyboards import create_storyboard, create_storyboard_token

pytestmark = pytest.mark.postgresql


@pytest.fixture
def token(priya: Membership) -> Token:
    return create_storyboard_token(priya)


@pytest.fixture
def board(priya: Membership, token: Token) -> Storyboard:
    return create_storyboard(priya, token, "A boat leaves", "It meets a storm")


def history_of(board: Storyboard) -> ClipHistory:
    board = reload(board)
    return load_clip_history(board, board.scenes.all()[0])


def test_a_clip_has_its_part_of_the_cost_its_author_and_its_engine(
    priya: Membership, board: Storyboard
) -> None:
    scenes = list(board.scenes.all())
    job = send(priya, board)
    charge = order(job, priya, scenes)
    give_clips(job, *scenes, charge=charge)

    history = history_of(board)

    row = history.rows[0]
    assert (row.state, row.text, row.made_with) == ("good", "“A boat leaves”", "Priya, Brook, 5 s")
    assert (row.amount, row.amount_kind, row.is_in_film) == (Decimal(10), "exact", True)
    assert history.note == "1 made, 10 cr"


def test_a_failed_clip_is_quoted_and_no_refund_is_promised(
    priya: Membership, board: Storyboard
) -> None:
    scene = board.scenes.all()[0]
    job = send(priya, board)
    charge = order(job, priya, [scene], cost=Decimal(10))
    give_clips(job, scene, status="failed", failure_message="Provider timed out.", charge=charge)

    row = history_of(board).rows[0]

    assert (row.state, row.text) == ("failed", "“Provider timed out.”")
    assert row.note == "The service promises no refund for a scene clip. None has come back."


def test_clips_of_an_older_copy_and_refused_orders_are_listed(
    priya: Membership, luca: Membership, board: Storyboard
) -> None:
    scene = board.scenes.all()[0]
    old = send(priya, board)
    give_clips(old, scene, charge=order(old, priya, [scene], cost=Decimal(10)))
    board.scenes.filter(pk=scene.pk).update(prompt="A ferry leaves")
    new = send(priya, reload(board))
    assert new != old
    order(new, luca, [scene], ChargeState.REFUSED, reason="Prompt is not allowed.")

    history = history_of(board)

    assert [(row.state, row.text) for row in history.rows] == [
        ("failed", "Prompt is not allowed."),
        ("good", "“A boat leaves”"),
    ]
    assert [row.is_in_film for row in history.rows] == [False, False]
    assert history.note == "1 made, 10 cr"


def test_a_clip_that_was_replaced_keeps_its_reason(priya: Membership, board: Storyboard) -> None:
    scene = board.scenes.all()[0]
    job = send(priya, board)
    first = order(job, priya, [scene], cost=Decimal(10))
    give_clips(job, scene, status="failed", failure_message="Provider timed out.", charge=first)
    part = job.parts.get()
    JobPart.objects.filter(pk=part.pk).update(
        list_name=EARLIER_CLIPS, remote_id=f"{part.remote_id} 1", details={"scene": part.remote_id}
    )
    give_clips(job, scene, charge=order(job, priya, [scene], cost=Decimal(10)))

    history = history_of(board)

    assert [(row.state, row.is_in_film) for row in history.rows] == [
        ("good", True),
        ("failed", False),
    ]
    assert history.rows[1].text == "“Provider timed out.”"
    assert history.note == "2 made, 20 cr"


def test_an_order_without_an_answer_says_that_it_is_not_sent_again(
    priya: Membership, board: Storyboard
) -> None:
    scene = board.scenes.all()[0]
    order(send(priya, board), priya, [scene], ChargeState.UNKNOWN)

    row = history_of(board).rows[0]

    assert (row.state, row.amount_kind) == ("unknown", "about")
    assert "It will not be sent again" in row.note


@pytest.mark.parametrize(
    ("cost", "shares", "parts"),
    [
        (42, (16, 10, 16), (16, 10, 16)),
        (10, (1, 1, 1), (4, 3, 3)),
        (0, (5, 5), (0, 0)),
        ("2.5", (1, 1), ("1.5", 1)),
    ],
)
def test_the_parts_of_a_cost_add_up(
    cost: object, shares: tuple[int, ...], parts: tuple[object, ...]
) -> None:
    named = {str(place): Decimal(share) for place, share in enumerate(shares)}

    found = split_clip_cost(Decimal(str(cost)), named)

    assert sum(found.values()) == Decimal(str(cost))
    assert sorted(found.values()) == sorted(Decimal(str(part)) for part in parts)
