"""A preset of Priya's, saved from a complete draft, and options that were read just now."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from django.utils import timezone

from dashboard.models import Membership, Preset
from dashboard.studio.presets.actions.presets import save_preset
from proxyapi.models import Account, Draft, Job
from tests.dashboard.studio.conftest import OPTIONS, WANTED

ALL_GROUPS = ("voice", "image_engine", "genre", "scene", "captions", "sound", "script")
STYLED = {**WANTED, "font": "f-1", "caption_effect": "e-9", "volume": "v-low"}


@pytest.fixture(autouse=True)
def _fresh_options(account: Account) -> None:
    account.options_as_of = timezone.now()
    account.save(update_fields=["options_as_of"])


@pytest.fixture
def styled(ready: Job) -> Job:
    """A complete draft with captions and music."""
    Draft.objects.filter(pk=ready.pk).update(settings=STYLED)
    return Job.objects.select_related("account", "draft").get(pk=ready.pk)


@pytest.fixture
def preset(priya: Membership, styled: Job) -> Preset:
    return save_preset(by=priya, job=styled, name="Ice series", groups=ALL_GROUPS)


def without_option(group: str, name: str) -> dict[str, Any]:
    """The options once the service no longer offers one."""
    options = copy.deepcopy(OPTIONS)
    for layer in options.values():
        if group in layer:
            layer[group] = [item for item in layer[group] if item.get("name") != name]
    return options


def with_other_ids() -> dict[str, Any]:
    """The options of another upstream: the same names and slugs, other ids."""
    options = copy.deepcopy(OPTIONS)
    for items in options["mandatory"].values():
        for item in items:
            if "id" in item:
                item["id"] += 5000
    return options


def store_options(account: Account, options: dict[str, Any]) -> None:
    account.options, account.options_as_of = options, timezone.now()
    account.save(update_fields=["options", "options_as_of"])


def one_line(response: Any) -> str:
    """A page without its line breaks, for sentences that the template breaks."""
    return " ".join(response.content.decode().split())
