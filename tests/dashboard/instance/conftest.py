"""The operator of the installation: Mira, who owns Northlight besides."""

from __future__ import annotations

import pytest

from dashboard.models import User


@pytest.fixture
def operator(mira):
    User.objects.filter(pk=mira.user_id).update(is_superuser=True)
    mira.user.refresh_from_db()
    return mira
