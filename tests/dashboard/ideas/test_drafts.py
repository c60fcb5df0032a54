"""Drafts from ideas: free, with the title as topic, one or several at once."""

from __future__ import annotations

import uuid

from django.contrib.messages import get_messages

from dashboard.models import AuditEvent, DraftOrigin, Membership
from proxyapi.models import Charge, Draft, Job, Token
from tests.dashboard.ideas.conftest import Browser, make_ideas
from tests.factories import AccountFactory

URL = "/studio/idea-drafts/"


def test_an_idea_becomes_a_draft_whose_script_is_next(
    client_of: Browser, token: Token, priya: Membership
) -> None:
    (idea,) = make_ideas(token.account, "Why do some lakes explode?")
    response = client_of(priya).post(URL, {"idea": str(idea.pk)})
    job = Job.objects.get()
    assert response.url == f"/studio/{job.pk}/script/"
    assert (job.title, job.member, job.token) == (idea.title, priya.user, token)
    assert Draft.objects.get().settings["topic"] == idea.title
    assert Draft.objects.get().settings["type"] == "ai-visuals"
    assert DraftOrigin.objects.get().idea == idea
    assert not Charge.objects.exists()


def test_several_ideas_become_drafts_all_or_none(
    client_of: Browser, token: Token, priya: Membership
) -> None:
    ideas = make_ideas(token.account, "Deep lakes", "Salt lakes", "A lake " + "of salt " * 60)
    ids = [str(idea.pk) for idea in ideas]
    response = client_of(priya).post(URL, {"idea": [*ids, ids[0]]})
    assert response.url == "/studio/drafts/"
    assert Job.objects.count() == DraftOrigin.objects.count() == 3
    assert "3 drafts were made" in str(next(iter(get_messages(response.wsgi_request))))
    assert max(len(job.title) for job in Job.objects.all()) <= 80
    assert AuditEvent.objects.filter(action="draft.start").count() == 3


def test_a_foreign_or_unknown_idea_makes_no_draft_at_all(
    client_of: Browser, token: Token, priya: Membership
) -> None:
    (own,) = make_ideas(token.account, "Deep lakes")
    (foreign,) = make_ideas(AccountFactory.create(), "Whales of others")
    for other in (foreign.pk, uuid.uuid4(), "x"):
        response = client_of(priya).post(URL, {"idea": [str(own.pk), str(other)]})
        assert response.status_code == 404 and b"Whales" not in response.content
    assert not Job.objects.exists()


def test_without_a_token_or_a_selection_a_sentence_says_so(
    client_of: Browser, token: Token, priya: Membership, luca: Membership
) -> None:
    (idea,) = make_ideas(token.account, "Deep lakes")
    for member, ids, sentence in (
        (luca, [str(idea.pk)], "You have no token yet."),
        (priya, [], "Select an idea first."),
    ):
        response = client_of(member).post(URL, {"idea": ids}, follow=True)
        assert response.redirect_chain == [("/ideas/", 302)]
        assert sentence in response.content.decode()
    assert not Job.objects.exists()


def test_an_idea_may_be_used_again_and_its_links_fit_no_page_draft(
    client_of: Browser, token: Token, priya: Membership
) -> None:
    """The member's last draft was made from a web page, which has no topic."""
    (idea,) = make_ideas(token.account, "Deep lakes")
    browser = client_of(priya)
    browser.post(URL, {"idea": str(idea.pk)})
    draft = Draft.objects.get()
    draft.settings = {"type": "url-based", "title": "Trains"}
    draft.save()
    browser.post(URL, {"idea": str(idea.pk)})
    newest = Job.objects.order_by("-created_at").first()
    assert newest is not None and newest.draft.settings["type"] == "ai-visuals"
    assert DraftOrigin.objects.filter(idea=idea).count() == 2
