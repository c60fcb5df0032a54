"""Drafts from ideas that the team owns, free of charge."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction

from dashboard.models import Membership
from dashboard.shared.audit_log import append_audit_rows_last
from dashboard.shared.member_token import require_member_token
from dashboard.shared.video_options import account_options
from dashboard.studio import actions
from dashboard.studio.flows import DEFAULT_FLOW, FLOWS
from dashboard.studio.queries.defaults import load_default_settings, load_start_token
from dashboard.studio.queries.start_text import MAX_TOPIC_CHARACTERS, shorten_title
from proxyapi.models import Idea, Job


@transaction.atomic
def start_idea_drafts(*, by: Membership, ideas: Sequence[Idea]) -> list[Job]:
    """Start a draft for each idea, with its title as the topic and what the member's new drafts
    start with. All or none; raises `Refusal`."""
    token = require_member_token(by)
    _, choices = load_start_token(by)
    flow = FLOWS[choices.type]
    flow = DEFAULT_FLOW if flow.reads_page else flow
    options = account_options(token.account)
    fallback = load_default_settings(by, token.account, options, flow, {"type": flow.type})
    with append_audit_rows_last():
        return [
            actions.start_draft(
                by=by,
                title=shorten_title(idea.title),
                chosen={"type": flow.type, "topic": idea.title[:MAX_TOPIC_CHARACTERS]},
                script_request={"duration": choices.duration},
                idea=idea,
                fallback=fallback,
            )
            for idea in ideas
        ]
