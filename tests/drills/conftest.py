"""Everything here is a drill: minutes of random trouble, only in `make drill`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import asks_database
from tests.drills.figures import Figures
from tests.leak_search import searched_for_leaks
from tests.leaks import Canaries

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.drill)


@pytest.fixture(autouse=True)
def canaries(request: pytest.FixtureRequest) -> Iterator[Canaries]:
    """The tokens of every drill are canaries; whatever it leaves behind is searched."""
    if not asks_database(request.node):
        yield Canaries()
        return
    with searched_for_leaks(request) as canaries:
        yield canaries
    found = canaries.leaked_tokens()
    if canaries.planted:
        name = request.node.name.removeprefix("test_").replace("_", " ")
        figures = Figures(f"canaries, {name}")
        figures.report(
            f"{canaries.scanned_summary()}: {len(found)} found", "0", holds=not found, found=found
        )
        figures.close()
