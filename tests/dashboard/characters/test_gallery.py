"""The gallery: groups, filters, hiding; what a viewer sees."""

from __future__ import annotations

from django.urls import reverse

from dashboard.models import AuditAction, AuditEvent, Membership
from proxyapi.models import AccountPlan, ChargeState, Job, JobState, TokenState
from tests.dashboard.characters.conftest import Browser, add_charge, set_state


def gallery(browser: object, query: str = "") -> str:
    answer = browser.get(f"{reverse('characters')}{query}")  # type: ignore[attr-defined]
    return str(answer.content.decode())


def test_an_empty_gallery_says_how_one_is_made(
    luca: Membership, vera: Membership, token: object, client_of: Browser
) -> None:
    assert "No characters yet" in gallery(client_of(luca))
    assert "New character" in gallery(client_of(luca))
    page = gallery(client_of(vera))
    assert "New character" not in page and "You can look; producers can make." in page


def test_characters_stand_in_two_groups_and_are_found_by_state_name_and_gender(
    ready_to_train: Job, luca: Membership, client_of: Browser
) -> None:
    browser = client_of(luca)
    page = gallery(browser)
    assert "Not ready yet" in page and "preview chosen" not in page and "female, 28" in page
    set_state(ready_to_train, JobState.COMPLETED, raw_status="ready")
    assert 'id="group-1">Ready' in gallery(browser)
    assert "Maja" in gallery(browser, "?state=ready&q=maj&gender=female")
    for query in ("?state=failed", "?q=nobody", "?gender=male", "?member=999999"):
        assert "No results" in gallery(browser, query), query


def test_a_hidden_character_can_be_shown_again(
    ready_to_train: Job, luca: Membership, client_of: Browser
) -> None:
    browser, hide = client_of(luca), reverse("character-hide", args=[ready_to_train.pk])
    assert "Hide “<bdi>Maja</bdi>” for everyone?" in browser.get(hide).content.decode()
    page = browser.post(hide, follow=True).content.decode()
    restore = reverse("character-restorations", args=[ready_to_train.pk])
    assert restore in page and "All characters are hidden" in page
    assert "Show again" in gallery(browser, "?state=hidden")
    browser.post(restore)
    assert "Continue" in gallery(browser)
    actions = AuditEvent.objects.values_list("action", flat=True)
    assert {AuditAction.CHARACTER_HIDE, AuditAction.CHARACTER_UNHIDE} <= set(actions)


def test_a_character_whose_request_is_open_is_not_hidden(
    ready_to_train: Job, luca: Membership, client_of: Browser
) -> None:
    add_charge(ready_to_train, "characters.train", ChargeState.UNKNOWN, quote=10, hold=10)
    hide = reverse("character-hide", args=[ready_to_train.pk])
    page = client_of(luca).post(hide, follow=True).content.decode()
    assert "“Maja” is not hidden." in page
    ready_to_train.refresh_from_db()
    assert ready_to_train.hidden_at is None


def test_a_viewer_reads_a_character_and_gets_no_buttons(
    ready_to_train: Job, vera: Membership, client_of: Browser
) -> None:
    page = client_of(vera).get(reverse("character", args=[ready_to_train.pk])).content.decode()
    assert "Maja is not trained yet" in page
    assert "Hide" not in page and "Train" not in page.replace("Trained", "").replace("Training", "")
    assert "Continue" not in gallery(client_of(vera))


def test_a_trial_plan_stops_a_training_before_it_is_sent(
    ready_to_train: Job, luca: Membership, client_of: Browser
) -> None:
    ready_to_train.token.state = TokenState.PAUSED
    ready_to_train.token.save()
    ready_to_train.account.plan = AccountPlan.TRIAL
    ready_to_train.account.save(update_fields=["plan"])
    url = reverse("character-training", args=[ready_to_train.pk])
    assert "does not work now" in client_of(luca).get(url).content.decode()


def test_the_gallery_asks_the_database_the_same_for_one_and_for_many(
    ready_to_train: Job,
    luca: Membership,
    client_of: Browser,
    django_assert_max_num_queries: object,
) -> None:
    browser = client_of(luca)
    gallery(browser)
    with django_assert_max_num_queries(22):  # type: ignore[operator]
        gallery(browser)
