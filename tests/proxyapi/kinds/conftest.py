"""A storyboard of three scenes, and the sandbox in this process that it is sent to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from proxyapi.models import Storyboard
from tests.proxyapi.kinds.storyboard_stage import PROMPTS, SETTINGS
from tests.proxyapi.money.in_process_sandbox import (
    InProcessSandbox,
    in_process_sandbox,
    sandbox_with_account,
)
from tests.proxyapi.money.sandbox_account import SandboxAccount
from tests.storyboards import create_board_on


@pytest.fixture
def sandbox(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> Iterator[InProcessSandbox]:
    with in_process_sandbox(tmp_path, monkeypatch, settings) as sandbox:
        yield sandbox


@pytest.fixture
def stage(sandbox: InProcessSandbox) -> Iterator[SandboxAccount]:
    with sandbox_with_account(sandbox, SETTINGS) as stage:
        yield stage


@pytest.fixture
def board(stage: SandboxAccount) -> Storyboard:
    return create_board_on(stage.token, *PROMPTS)
