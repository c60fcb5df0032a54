"""Priya's token, on an account with two clip engines."""

from __future__ import annotations

import pytest

from dashboard.models import Membership
from proxyapi.models import Token
from tests.storyboards import create_storyboard_token


@pytest.fixture
def token(priya: Membership) -> Token:
    return create_storyboard_token(priya)
