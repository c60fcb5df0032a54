"""What a look saw stands in an open page without a reload; `make bench` tells how soon."""

from __future__ import annotations

from collections.abc import Callable

from tests.browser.desk import Desk
from tests.browser.house import House
from tests.browser.seen import waits_of
from tests.browser.stage import Stage


def test_a_finished_render_is_seen_after_the_look(
    house: House, desk_of: Callable[..., Desk], stage: Stage
) -> None:
    (wait,) = waits_of(house, desk_of("Luca"), desk_of("Vera"), stage, renders=1)
    assert wait > 0
