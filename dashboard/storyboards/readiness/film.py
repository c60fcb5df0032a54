"""What the film bar, the rail and the price questions are built from: the list of what is left to
do, the clips to generate, and the price of the render."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from dashboard.shared.storyboards.scene_states import SceneRow, SceneState
from dashboard.storyboards.readiness.clip_orders import ClipOrders, load_clip_orders
from dashboard.storyboards.readiness.clip_plan import ClipPlan, plan_clips
from dashboard.storyboards.readiness.needs import Need, find_needs
from dashboard.storyboards.readiness.render_price import RenderPrice, find_render_price
from proxyapi.models import JobState, Storyboard

RENDERING_TEXT = "The film is rendering. Scenes are locked until it ends."


@dataclass(frozen=True, slots=True)
class FilmReadiness:
    needs: tuple[Need, ...]
    plan: ClipPlan
    orders: ClipOrders
    render: RenderPrice
    available: Decimal
    is_rendering: bool
    running: int  # clips that are being made

    @property
    def left(self) -> int:
        return sum(not need.is_met for need in self.needs)

    @property
    def is_ready(self) -> bool:
        """True if nothing is left to do before the render."""
        return not self.left and not self.plan.is_rendered


def load_readiness(storyboard: Storyboard, rows: Sequence[SceneRow]) -> FilmReadiness:
    """Three queries: what clips cost before, the orders of clips, and what the account holds."""
    plan, orders = plan_clips(storyboard, rows), load_clip_orders(storyboard)
    available = storyboard.account.available_balance()
    return FilmReadiness(
        needs=find_needs(storyboard, rows, plan, orders, available),
        plan=plan,
        orders=orders,
        render=find_render_price(storyboard, rows, orders),
        available=available,
        is_rendering=is_rendering(storyboard),
        running=sum(row.state == SceneState.GENERATING for row in rows),
    )


def is_rendering(storyboard: Storyboard) -> bool:
    return storyboard.copy is not None and storyboard.copy.state == JobState.RUNNING
