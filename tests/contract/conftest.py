"""One sandbox for a file of tests, in a new world for each test."""

from __future__ import annotations

import asyncio

import pytest

from proxyapi.sandbox.clock import FROZEN_START
from tests.sandbox.conftest import SandboxClient


@pytest.fixture(scope="module")
def _running(tmp_path_factory):
    with asyncio.Runner() as runner:
        yield SandboxClient(tmp_path_factory.mktemp("sandbox"), runner, db=None)


@pytest.fixture
def sandbox(_running):
    """A world of one paying account, Mira's."""
    _running.maker.error, _running.maker.waits = None, False
    _running.world.clock.set_mode("frozen", now=FROZEN_START)
    _running.reset("paid")
    return _running
