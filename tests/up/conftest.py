"""The real processes of `make run`, without a browser, started once: for `test_demo`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.browser.portal_process import LivePortal, portal_context
from tests.up.supervisors import await_end_of, group_of, running_in


@pytest.fixture(scope="module")
def live_portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LivePortal]:
    """A portal with its demo team; at the end it is stopped by Ctrl-C and leaves no process."""
    with portal_context(tmp_path_factory.mktemp("portal")) as portal:
        group = group_of(portal.pid)
        assert len(running_in(group)) >= 8, "reaper, valkey, sandbox, web, three workers, beat"
        yield portal
    await_end_of(group)
