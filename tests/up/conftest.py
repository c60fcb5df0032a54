"""The real processes of `make run`, without a browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.browser.house import House, running_house


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    yield from running_house(tmp_path_factory.mktemp("house"))
