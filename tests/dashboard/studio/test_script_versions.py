"""Earlier scripts in the Script step: listed, restored for free, and never lost by it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from dashboard.models import Membership
from proxyapi.models import Charge, ChargeState, Draft, Job, ScriptVersion
from tests.dashboard.studio.conftest import SCRIPT, Browser, get_page, step_url
from tests.factories import ChargeFactory, JobFactory

HTMX = {"HX-Request": "true"}
PAID_TEXT = "Ice flows downhill."


@pytest.fixture
def paid_version(ready: Job) -> ScriptVersion:
    charge = ChargeFactory.create(
        job=ready,
        operation="faceless.scripts",
        state=ChargeState.CONFIRMED,
        cost=Decimal(4),
        sent_at=timezone.now(),
    )
    return ScriptVersion.objects.create(
        job=ready, origin="service", text=PAID_TEXT, charge=charge, member=charge.member
    )


def restore(browser: Any, version: ScriptVersion, **form: str) -> Any:
    url = reverse("studio-script-restorations", args=[version.job_id, version.pk])
    return browser.post(url, form, headers=HTMX)


def script_of(job: Job) -> str:
    return str(Draft.objects.get(pk=job.pk).settings["script"])


def test_the_step_lists_earlier_scripts_with_their_price(
    priya: Membership, ready: Job, paid_version: ScriptVersion, client_of: Browser
) -> None:
    html = get_page(client_of(priya), step_url(ready, "script"))
    assert "Written by the service</b>" in html
    assert '<data class="amount" value="4">4' in html
    assert PAID_TEXT in html
    assert "3 words" in html


def test_a_draft_without_earlier_scripts_shows_no_list(
    priya: Membership, ready: Job, client_of: Browser
) -> None:
    assert "Earlier scripts" not in get_page(client_of(priya), step_url(ready, "script"))


def test_restoring_charges_nothing_and_can_be_undone_by_restoring_the_other(
    priya: Membership, ready: Job, paid_version: ScriptVersion, client_of: Browser
) -> None:
    browser, charges = client_of(priya), Charge.objects.count()
    html = restore(browser, paid_version).content.decode()
    assert script_of(ready) == PAID_TEXT
    assert "Restored." in html
    own = ScriptVersion.objects.get(origin="member")
    assert (own.text, own.charge) == (SCRIPT, None)
    restore(browser, own)
    assert script_of(ready) == SCRIPT
    restore(browser, paid_version)
    assert ScriptVersion.objects.count() == 2
    assert Charge.objects.count() == charges


def test_restoring_asks_for_a_new_price(
    priya: Membership, ready: Job, paid_version: ScriptVersion, client_of: Browser
) -> None:
    restore(client_of(priya), paid_version)
    draft = Draft.objects.get(pk=ready.pk)
    assert draft.estimate is None
    assert draft.quote_due_at is not None


def test_text_that_is_not_saved_is_not_lost_by_a_press(
    priya: Membership, ready: Job, paid_version: ScriptVersion, client_of: Browser
) -> None:
    typed = "ice " * 3001
    html = restore(client_of(priya), paid_version, script=typed).content.decode()
    assert script_of(ready) == SCRIPT
    assert "Not restored. Your text below is not saved" in html
    assert typed.strip() in html


def test_nothing_is_restored_while_a_script_is_being_written(
    priya: Membership, ready: Job, paid_version: ScriptVersion, client_of: Browser
) -> None:
    ChargeFactory.create(
        job=ready, operation="faceless.scripts", state=ChargeState.UNKNOWN, sent_at=timezone.now()
    )
    html = restore(client_of(priya), paid_version).content.decode()
    assert "A script is being written and would replace it." in html
    assert script_of(ready) == SCRIPT


def test_a_video_that_was_sent_keeps_its_script(
    priya: Membership, ready: Job, paid_version: ScriptVersion, client_of: Browser
) -> None:
    ChargeFactory.create(job=ready, state=ChargeState.HELD)
    assert restore(client_of(priya), paid_version).headers["HX-Redirect"]
    assert script_of(ready) == SCRIPT


def test_a_version_of_another_draft_does_not_exist_for_this_one(
    priya: Membership, ready: Job, paid_version: ScriptVersion, client_of: Browser
) -> None:
    other = JobFactory.create(account=ready.account, token=ready.token)
    url = reverse("studio-script-restorations", args=[other.pk, paid_version.pk])
    assert client_of(priya).post(url).status_code == 404


def test_only_those_who_render_restore(
    vera: Membership,
    otto: Membership,
    ready: Job,
    paid_version: ScriptVersion,
    client_of: Browser,
) -> None:
    statuses = [restore(client_of(who), paid_version).status_code for who in (vera, otto)]
    assert statuses == [403, 404]


def test_the_whole_page_restores_too(
    priya: Membership, ready: Job, paid_version: ScriptVersion, client_of: Browser
) -> None:
    url = reverse("studio-script-restorations", args=[ready.pk, paid_version.pk])
    answer = client_of(priya).post(url)
    assert answer.url == step_url(ready, "script")
    assert script_of(ready) == PAID_TEXT
