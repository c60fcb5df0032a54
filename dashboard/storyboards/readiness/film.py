"""What the film bar, the rail and the price questions are built from: the list of what is left to
do, the clips to generate, and the price of the render."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from dashboard.shared.storyboards.rendering import StoryboardLock, load_storyboard_lock
from dashboard.shared.storyboards.scene_states import SceneRow, SceneState
from dashboard.storyboards.readiness.clip_orders import ClipOrders, load_clip_orders
from dashboard.storyboards.readiness.clip_plan import ClipPlan, plan_clips
from dashboard.storyboards.readiness.needs import Need, find_needs
from dashboard.storyboards.readiness.render_price import RenderPrice, find_render_price
from proxyapi.models import Storyboard


@dataclass(frozen=True, slots=True)
class FilmReadiness:
    needs: tuple[Need, ...]
    plan: ClipPlan
    orders: ClipOrders
    render: RenderPrice
    available: Decimal
    lock: StoryboardLock
    running: int  # clips that are being made

    @property
    def is_rendering(self) -> bool:
        return self.lock.is_rendering

    @property
    def left(self) -> int:
        return sum(not need.is_met for need in self.needs)

    @property
    def is_ready(self) -> bool:
        """True if nothing is left to do before the render."""
        return not self.left and not self.plan.is_rendered


def load_readiness(
    storyboard: Storyboard, rows: Sequence[SceneRow], lock: StoryboardLock | None = None
) -> FilmReadiness:
    """Three queries: what clips cost before, the orders of clips, and what the account holds; one
    more without `lock`."""
    lock = lock or load_storyboard_lock(storyboard)
    plan, orders = plan_clips(storyboard, rows), load_clip_orders(storyboard)
    available = storyboard.account.available_balance()
    return FilmReadiness(
        needs=find_needs(storyboard, rows, plan, orders, available, lock),
        plan=plan,
        orders=orders,
        render=find_render_price(storyboard, rows, orders),
        available=available,
        lock=lock,
        running=sum(row.state == SceneState.GENERATING for row in rows),
    )
