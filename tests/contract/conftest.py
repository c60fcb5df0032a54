"""One sandbox for a file of tests, in a new world for each test."""

from __future__ import annotations

import asyncio
import os
from typing import get_args

import pytest

from proxyapi.sandbox.clock import FROZEN_START
from proxyapi.sandbox.dialect import Dialect
from tests.sandbox.conftest import SandboxClient


@pytest.fixture(scope="module")
def _running(tmp_path_factory):
    with asyncio.Runner() as runner:
        yield SandboxClient(tmp_path_factory.mktemp("sandbox"), runner, db=None)


def pytest_generate_tests(metafunc):
    """What is answered, is the specification's in each dialect; the drill asks all in both."""
    is_of_answers = metafunc.module.__name__.endswith(("test_field_tables", "test_spec_tables"))
    if "sandbox" in metafunc.fixturenames and (is_of_answers or "REELROOM_EXAMPLES" in os.environ):
        metafunc.parametrize("sandbox", get_args(Dialect), indirect=True)


@pytest.fixture
def sandbox(_running, request):
    """A world of one paying account, Mira's."""
    _running.maker.error, _running.maker.waits = None, False
    _running.world.clock.set_mode("frozen", now=FROZEN_START)
    _running.reset("paid")
    _running.set(dialect=getattr(request, "param", "spec"))
    return _running
