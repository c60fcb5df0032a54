"""Exports: the dialog with its price (pitfall 46), the list with its states, and the history's
names."""

from __future__ import annotations

import re
import uuid
from decimal import Decimal

import pytest
from django.utils import timezone

from dashboard.models import BrandKit
from proxyapi.kinds.job_parts import store_parts
from proxyapi.models import Account, Charge, Job, JobPart
from tests.dashboard.library.conftest import ago
from tests.dashboard.library.parts.test_scenes import text_of

FRAGMENT = {"HX-Request": "true"}
STYLE = {"caption_effect": "karaoke", "caption_position": "center", "font": "mono"}


def dialog(client, job, query=""):
    address = f"/videos/{job.pk}/exports/new/{query}"
    return client.get(address, headers=FRAGMENT).content.decode()


def send(client, job, **form):
    given = {"nonce": str(uuid.uuid4()), "price": "5", **STYLE, **form}
    return client.post(f"/videos/{job.pk}/exports/new/", given, headers=FRAGMENT)


def export_list(client, job):
    return client.get(f"/videos/{job.pk}/exports/", headers=FRAGMENT).content.decode()


@pytest.fixture
def add_export(job, add_settled_charge):
    """An export of Priya's, as the record shows it."""

    def make(id=9, **fields):
        charge = add_settled_charge(job, 5, operation="faceless.export", body=STYLE)
        known = [{"id": part.remote_id, "status": part.status} for part in job.parts.all()]
        store_parts(job, {"exports": [*known, {"id": id, **fields}]}, ("exports",))
        JobPart.objects.filter(remote_id=id).update(charge=charge)
        return job.parts.get(remote_id=id)

    return make


def test_the_dialog_says_price_free_uses_and_what_is_left(job, priya, client_of):
    shown = text_of(dialog(client_of(priya), job))
    assert "Export a restyled cut" in shown
    assert "Price From the service’s price list" in shown
    assert "The first 1 on this account are free at the service" in shown
    assert "If the export fails, the service promises no refund." in shown
    assert re.search(r'btn__price">\s*5 cr', dialog(client_of(priya), job))


def test_an_export_is_charged_at_the_full_price_with_its_style(job, priya, client_of):
    assert send(client_of(priya), job).headers["HX-Redirect"] == f"/videos/{job.pk}/"
    charge = Charge.objects.get()
    assert (charge.operation, charge.hold, charge.body) == ("faceless.export", 5, STYLE)


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"price": "4"}, "The price was 4 cr and is 5 cr now"),
        ({"font": "wingdings"}, "Choose one from the list."),
    ],
)
def test_a_refused_export_keeps_the_choices(form, said, job, priya, client_of):
    page = send(client_of(priya), job, **form).content.decode()
    assert said in page
    assert re.search(r'value="karaoke" checked', page)
    assert not Charge.objects.exists()


@pytest.mark.parametrize("state", ["draft", "running", "failed"])
def test_only_a_completed_video_is_exported(state, job, make_video_job, priya, client_of):
    other = make_video_job(state)
    assert (
        "Only a completed video can be exported" in send(client_of(priya), other).content.decode()
    )
    assert not Charge.objects.exists()


def test_without_a_price_nothing_can_be_confirmed(job, priya, client_of):
    Account.objects.update(costs={})
    assert "There is no current price" in dialog(client_of(priya), job)
    assert "has no price for this" in send(client_of(priya), job).content.decode()


def test_the_last_choices_are_offered_again(job, priya, client_of):
    send(client_of(priya), job)
    Charge.objects.all().delete()
    assert re.search(r'value="pop" checked', dialog(client_of(priya), job))
    send(client_of(priya), job)
    assert re.search(r'value="karaoke" checked', dialog(client_of(priya), job))


def test_a_group_that_is_not_offered_is_left_out(job, priya, client_of):
    Account.objects.update(options={"optional": {"fonts": [{"slug": "mono", "name": "Mono"}]}})
    assert "caption_effect" not in dialog(client_of(priya), job)
    send(client_of(priya), job)
    assert Charge.objects.get().body == {"font": "mono"}


def test_a_running_export_shows_time_and_freshness(job, add_export, vera, client_of):
    add_export(status="rendering")
    Job.objects.update(parts_due_at=timezone.now())
    shown = text_of(export_list(client_of(vera), job))
    assert "Karaoke, center, Mono Rendering" in shown
    assert "first of its kind" in shown
    assert "Checked" in shown


def test_a_finished_export_is_played_and_downloaded(job, add_export, vera, client_of):
    part = add_export(status="completed", url="http://127.0.0.1:8001/media/9.mp4")
    page = export_list(client_of(vera), job)
    assert f"/videos/{job.pk}/parts/{part.pk}/media/?download=1" in page
    player = client_of(vera).get(f"/videos/{job.pk}/exports/{part.pk}/", headers=FRAGMENT)
    assert f'src="/videos/{job.pk}/parts/{part.pk}/media/"' in player.content.decode()


def test_a_failed_export_is_repeated_at_its_price_or_edited(
    job, add_export, priya, vera, client_of
):
    part = add_export(status="failed", failure={"message": "No such font."})
    shown = text_of(export_list(client_of(priya), job))
    assert "“No such font.” 5 cr were charged, no refund seen." in shown
    assert "Export again 5 cr" in shown
    assert "Export again" not in export_list(client_of(vera), job)
    Account.objects.update(options={"optional": {"fonts": [{"slug": "mono", "name": "Mono"}]}})
    assert "checked" in dialog(client_of(priya), job, f"?like={part.pk}")
    form = {"nonce": str(uuid.uuid4()), "price": "5"}
    address = f"/videos/{job.pk}/exports/{part.pk}/repeats/"
    client_of(priya).post(address, form, headers=FRAGMENT)
    assert Charge.objects.get(state="held").body == STYLE
    again = client_of(priya).post(address, {**form, "nonce": str(uuid.uuid4())}, headers=FRAGMENT)
    assert "already in progress" in text_of(again.content.decode())


def test_a_lost_export_is_unknown_and_the_video_stays_completed(
    job, add_open_charge, priya, client_of
):
    given = {"operation": "faceless.export", "body": STYLE, "quote": Decimal(5), "hold": 5}
    add_open_charge(job, "unknown", **given)
    shown = text_of(export_list(client_of(priya), job))
    assert "Unknown" in shown
    assert "0 or 5 cr" in shown
    page = client_of(priya).get(f"/videos/{job.pk}/").content.decode()
    assert f'src="/videos/{job.pk}/media/"' in page
    assert "Another export of this video is being sent." in dialog(client_of(priya), job)


def test_the_history_names_each_export_and_its_end(
    job, add_export, add_settled_charge, vera, client_of
):
    add_export(status="failed", failure={"message": "No such font."})
    add_settled_charge(
        job, 2, operation="ai_visuals.regenerate", path={"asset": "61"},
        sent_at=ago(5), applied_at=timezone.now(),
    )  # fmt: skip
    page = client_of(vera).get(f"/videos/{job.pk}/").content.decode()
    history = text_of(page.partition('class="lineage"')[2].partition("</ol>")[0])
    assert "Export “Karaoke, center, Mono” 5 cr" in history
    assert "failed after" in history
    assert re.search(r"New image 2 cr [\d:]+, not rendered yet", history)


def test_the_brand_kit_fills_the_captions(job, priya, client_of):
    assert "Use the brand" not in dialog(client_of(priya), job)
    kept = {"caption_effect": {"slug": "karaoke", "name": "Karaoke"}, "watermark_position": {}}
    BrandKit.objects.create(team=priya.team, options=kept, changed_by=priya.user)
    page = dialog(client_of(priya), job)
    assert "exports/new/?kit=1" in page
    assert re.search(r'value="pop" checked', page)
    assert re.search(r'value="karaoke" checked', dialog(client_of(priya), job, "?kit=1"))


def test_an_export_that_is_no_longer_read_is_read_again_on_request(
    job, add_export, vera, thea, client_of
):
    add_export(status="rendering")
    Job.objects.update(parts_due_at=None)
    assert "Check again" not in export_list(client_of(vera), job)
    assert "Check again" in export_list(client_of(thea), job)
    client_of(thea).post(f"/videos/{job.pk}/checks/")
    job.refresh_from_db()
    assert job.parts_due_at is not None
    assert "Check again" not in export_list(client_of(thea), job)
