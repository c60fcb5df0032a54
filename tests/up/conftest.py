"""The real processes of `make run`, without a browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.browser.portal_process import LivePortal, running_portal


@pytest.fixture(scope="module")
def live_portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LivePortal]:
    yield from running_portal(tmp_path_factory.mktemp("portal"))
