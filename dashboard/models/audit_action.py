"""Everything that the audit log records, as `noun.verb` of what changed."""

from __future__ import annotations

from django.db import models


class AuditAction(models.TextChoices):
    ALERT_RULE_ADD = "alert_rule.add"
    ALERT_RULE_CHANGE = "alert_rule.change"
    ALERT_TEST = "alert.test"
    APPROVAL_REQUEST_CREATE = "approval_request.create"
    APPROVAL_REQUEST_APPROVE = "approval_request.approve"
    APPROVAL_REQUEST_DECLINE = "approval_request.decline"
    APPROVAL_REQUEST_EXPIRE = "approval_request.expire"
    APPROVAL_REQUEST_WITHDRAW = "approval_request.withdraw"
    BUDGET_ADD = "budget.add"
    BUDGET_CHANGE = "budget.change"
    BUDGET_END = "budget.end"
    CHARGE_CREATE = "charge.create"
    CHARGE_MATCH = "charge.match"
    CHARGE_RECHECK = "charge.recheck"
    CHARGE_WRITE_OFF = "charge.write_off"
    CREDIT_PACK_ADD = "credit_pack.add"
    CREDIT_PACK_REMOVE = "credit_pack.remove"
    DRAFT_SAVE = "draft.save"
    DRAFT_START = "draft.start"
    LEDGER_ACCEPT = "ledger.accept"
    LEDGER_ACCEPT_ALL = "ledger.accept_all"
    LEDGER_REBASE = "ledger.rebase"
    MEMBER_REMOVE = "member.remove"
    MEMBER_ROLE = "member.role"
    TEAM_TIME_ZONE = "team.time_zone"
    TOKEN_ADD = "token.add"  # noqa: S105  # the name of an action
    TOKEN_REMOVE = "token.remove"  # noqa: S105
    TOKEN_UNDECRYPTABLE = "token.undecryptable"  # noqa: S105
    TOP_UP_CHANGE = "top_up.change"
    VIDEO_HIDE = "video.hide"
    VIDEO_RECHECK = "video.recheck"
    VIDEO_UNHIDE = "video.unhide"
    WEBHOOK_REMOVE = "webhook.remove"
    WEBHOOK_SET = "webhook.set"
