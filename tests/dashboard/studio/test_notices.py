"""Problems of a draft are shown on each of its pages; members who can only view get no form."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from dashboard.models import Membership
from proxyapi.models import Account, AccountPlan, Job, TokenState
from tests.dashboard.studio.conftest import Browser, get_page, step_url


def test_a_trial_gets_a_notice(priya: Membership, ready: Job, client_of: Browser) -> None:
    ready.account.plan = AccountPlan.TRIAL
    ready.account.save()
    html = get_page(client_of(priya), step_url(ready, "voice"))
    assert "The service allows its API on paid plans only, not on trials." in html


def test_a_lapsed_plan_gets_a_notice(priya: Membership, ready: Job, client_of: Browser) -> None:
    ready.account.plan = AccountPlan.NONE
    ready.account.save()
    html = get_page(client_of(priya), step_url(ready, "voice"))
    assert "The plan lapsed" in html
    assert "Nothing is lost" in html


def test_pitfall_86_an_unverified_address_is_shown_before_the_render_is_refused(
    priya: Membership, ready: Job, client_of: Browser
) -> None:
    words = "The e-mail address of this account is not verified."
    assert words not in get_page(client_of(priya), step_url(ready, "voice"))
    ready.account.email_verified = False
    ready.account.save()
    assert words in get_page(client_of(priya), step_url(ready, "voice"))


def test_the_owner_of_a_revoked_token_sees_what_to_do(
    priya: Membership, luca: Membership, ready: Job, client_of: Browser
) -> None:
    ready.token.state = TokenState.REVOKED
    ready.token.save()
    mine = get_page(client_of(priya), step_url(ready, "voice"))
    assert "Your token stopped working at" in mine
    assert "Add a token" in mine
    theirs = get_page(client_of(luca), step_url(ready, "voice"))
    assert "Priya’s token stopped working at" in theirs
    assert "Add a token" not in theirs


def test_a_token_that_stopped_on_another_day_is_shown_with_the_day(
    priya: Membership, ready: Job, client_of: Browser
) -> None:
    ready.token.state = TokenState.REVOKED
    ready.token.state_since = datetime(2026, 1, 3, 14, 5, tzinfo=UTC)
    ready.token.save()
    html = get_page(client_of(priya), step_url(ready, "voice"))
    assert re.search(r"stopped working at 3 Jan( 2026)? \d\d:05\.", html)


def test_an_account_that_never_had_a_plan_has_no_lapsed_one(
    priya: Membership, ready: Job, client_of: Browser
) -> None:
    Account.objects.update(plan="none", plan_name="", plan_ends_at=None)
    html = get_page(client_of(priya), step_url(ready, "voice"))
    assert "The account has no paid plan." in html
    assert "lapsed" not in html


def test_a_removed_token_gets_a_notice(luca: Membership, ready: Job, client_of: Browser) -> None:
    ready.token.state = TokenState.REMOVED
    ready.token.save()
    assert "Priya’s token was removed." in get_page(client_of(luca), step_url(ready, "review"))


def test_looking_roles_see_the_draft_and_no_form(
    vera: Membership, thea: Membership, ready: Job, client_of: Browser
) -> None:
    for member in (vera, thea):
        for step in ("type", "script", "voice", "visuals", "captions", "review"):
            html = get_page(client_of(member), step_url(ready, step))
            assert 'id="step"' not in html
            assert "btn__price" not in html
        assert (
            client_of(member).post(step_url(ready, "voice"), {"voice_id": "7"}).status_code == 403
        )


def test_another_team_does_not_see_it(otto: Membership, ready: Job, client_of: Browser) -> None:
    assert client_of(otto).get(step_url(ready, "voice")).status_code == 404
    assert client_of(otto).post(step_url(ready, "voice"), {"voice_id": "7"}).status_code == 404
