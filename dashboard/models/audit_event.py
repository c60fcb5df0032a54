"""The audit log: who did what, with the values before and after; rows are only ever added.

A row names its team and its actor by value, so it outlives both. The rows of a team are a chain:
each has the hash of the one before, and `AuditChainHead` has the hash of the last. On PostgreSQL a
trigger refuses updates and deletions (migration 0003), on other databases this model does.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import UTC
from typing import Any, NoReturn
from uuid import UUID

from django.core.serializers.json import DjangoJSONEncoder
from django.db import models, transaction
from django.utils import timezone

HASHED_FIELDS = (
    "team_id",
    "team_name",
    "position",
    "actor_kind",
    "actor_id",
    "actor_name",
    "source",
    "client_ip",
    "action",
    "target",
    "before",
    "after",
    "details",
    "previous_hash",
)


class AuditAction(models.TextChoices):
    ACCESS_REFUSE = "access.refuse"
    ACCOUNT_ARCHIVE = "account.archive"
    ACCOUNT_PRICE = "account.price"
    ACCOUNT_RESTORE = "account.restore"
    AGENT_APPROVAL = "agent.approval"
    AGENT_APPROVAL_REQUEST = "agent.approval_request"
    AGENT_CONNECT = "agent.connect"
    AGENT_CREDITS = "agent.credits"
    AGENT_END = "agent.end"
    AGENT_PAUSE = "agent.pause"
    AGENT_RESUME = "agent.resume"
    AGENT_TOKEN_REPLAY = "agent.token_replay"  # noqa: S105
    ALERT_RESEND = "alert.resend"
    ALERT_RULE_ADD = "alert_rule.add"
    ALERT_RULE_CHANGE = "alert_rule.change"
    ALERT_TEST = "alert.test"
    API_KEY_CHANGE = "api_key.change"
    API_KEY_CREATE = "api_key.create"
    API_KEY_LIMITS = "api_key.limits"
    API_KEY_PAUSE = "api_key.pause"
    API_KEY_RESUME = "api_key.resume"
    API_KEY_REVOKE = "api_key.revoke"
    API_KEY_ROTATE = "api_key.rotate"
    AUDIT_EXPORT = "audit.export"
    AUDIT_VERIFY = "audit.verify"
    APPROVAL_REQUEST_COMMENT = "approval_request.comment"
    APPROVAL_REQUEST_CREATE = "approval_request.create"
    APPROVAL_REQUEST_APPROVE = "approval_request.approve"
    APPROVAL_REQUEST_DECLINE = "approval_request.decline"
    APPROVAL_REQUEST_EXPIRE = "approval_request.expire"
    APPROVAL_REQUEST_WITHDRAW = "approval_request.withdraw"
    BRAND_KIT_CHANGE = "brand_kit.change"
    BATCH_APPROVE = "batch.approve"
    BATCH_REQUEST = "batch.request"
    BATCH_CANCEL = "batch.cancel"
    BATCH_CHANGE = "batch.change"
    BATCH_CREATE = "batch.create"
    BATCH_PAUSE = "batch.pause"
    BATCH_REMOVE = "batch.remove"
    BATCH_RESUME = "batch.resume"
    BATCH_RETRY = "batch.retry"
    BATCH_SCHEDULE = "batch.schedule"
    BATCH_START = "batch.start"
    BATCH_UNSCHEDULE = "batch.unschedule"
    BUDGET_ADD = "budget.add"
    BUDGET_CHANGE = "budget.change"
    BUDGET_END = "budget.end"
    BUDGET_NEW_MEMBERS = "budget.new_members"
    BUDGET_RAISE = "budget.raise"
    BUDGET_RAISE_END = "budget.raise_end"
    CHARACTER_CREATE = "character.create"
    CHARACTER_HIDE = "character.hide"
    CHARACTER_PHOTO = "character.photo"
    CHARACTER_SAVE = "character.save"
    CHARACTER_UNHIDE = "character.unhide"
    CHARGE_CREATE = "charge.create"
    CHARGE_MATCH = "charge.match"
    CHARGE_RECHECK = "charge.recheck"
    CHARGE_UNMATCH = "charge.unmatch"
    CHARGE_WRITE_OFF = "charge.write_off"
    CHARGES_RESUME = "charges.resume"
    CHARGES_STOP = "charges.stop"
    CONFIRMATION_REFUSE = "confirmation.refuse"
    CREDIT_PACK_ADD = "credit_pack.add"
    CREDIT_PACK_REMOVE = "credit_pack.remove"
    DRAFT_DELETE = "draft.delete"
    DRAFT_RESTORE = "draft.restore"
    DRAFT_SAVE = "draft.save"
    DRAFT_START = "draft.start"
    EMAIL_CHANGE = "email.change"
    EMAIL_REQUEST = "email.request"
    EMAIL_WITHDRAW = "email.withdraw"
    INVITATION_ACCEPT = "invitation.accept"
    INVITATION_CREATE = "invitation.create"
    INVITATION_RESEND = "invitation.resend"
    INVITATION_RESTORE = "invitation.restore"
    INVITATION_REVOKE = "invitation.revoke"
    KEY_ROTATION_END = "key_rotation.end"
    KEY_ROTATION_START = "key_rotation.start"
    LABEL_ADD = "label.add"
    LABEL_CHANGE = "label.change"
    LABEL_REMOVE = "label.remove"
    LEDGER_ACCEPT = "ledger.accept"
    LEDGER_ACCEPT_ALL = "ledger.accept_all"
    LEDGER_EXPORT = "ledger.export"
    LEDGER_REBASE = "ledger.rebase"
    MEMBER_CHARGES_PAUSE = "member.charges_pause"
    MEMBER_CHARGES_RESUME = "member.charges_resume"
    MEMBER_DEACTIVATE = "member.deactivate"
    MEMBER_HAND_OVER = "member.hand_over"
    MEMBER_LEAVE = "member.leave"
    MEMBER_REACTIVATE = "member.reactivate"
    MEMBER_REMOVE = "member.remove"
    MEMBER_ROLE = "member.role"
    NAME_CHANGE = "name.change"
    NOTIFICATIONS_CHANGE = "notifications.change"
    PASSWORD_CHANGE = "password.change"  # noqa: S105  # an action's name
    PASSWORD_RESET = "password.reset"  # noqa: S105
    MEMBER_SIGN_OUT = "member.sign_out"
    OUTSIDE_SOURCE_ADD = "outside_source.add"
    OUTSIDE_SOURCE_CHANGE = "outside_source.change"
    OUTSIDE_SOURCE_REMOVE = "outside_source.remove"
    OWNERSHIP_ACCEPT = "ownership.accept"
    OWNERSHIP_DECLINE = "ownership.decline"
    OWNERSHIP_REQUEST = "ownership.request"
    OWNERSHIP_WITHDRAW = "ownership.take_back", "Ownership Take Back"  # rows have the older word
    PRESET_ADD = "preset.add"
    PRESET_CHANGE = "preset.change"
    PRESET_REMOVE = "preset.remove"
    RENDER_PLAN_CREATE = "render_plan.create"
    RENDER_PLAN_END = "render_plan.end"
    RENDER_SCHEDULE = "render_plan.schedule"
    RECOVERY_CODES_RENEW = "recovery_codes.renew"
    REPORT_RECIPIENTS = "report.recipients"
    SECOND_FACTOR_ADD = "second_factor.add"
    SECOND_FACTOR_REMOVE = "second_factor.remove"
    SECOND_FACTOR_RESET = "second_factor.reset"
    SERIES_ADD = "series.add"
    SERIES_CHANGE = "series.change"
    SERIES_PAUSE = "series.pause"
    SERIES_REMOVE = "series.remove"
    SERIES_RESUME = "series.resume"
    SESSION_END = "session.end"
    SECOND_PERSON_CHANGE = "second_person.change"
    SIGN_IN = "sign_in"
    SIGN_IN_REFUSE = "sign_in.refuse"
    SIGN_OUT = "sign_out"
    TEAM_CREATE = "team.create"
    TEAM_RESTORE = "team.restore"
    TEAM_SUSPEND = "team.suspend"
    SINGLE_SIGN_ON_BYPASS = "single_sign_on.bypass"
    SINGLE_SIGN_ON_CHANGE = "single_sign_on.change"
    SINGLE_SIGN_ON_JOIN = "single_sign_on.join"
    SINGLE_SIGN_ON_REMOVE = "single_sign_on.remove"
    SINGLE_SIGN_ON_REQUIRE = "single_sign_on.require"
    SINGLE_SIGN_ON_SECRET = "single_sign_on.secret"  # noqa: S105
    SINGLE_SIGN_ON_TEST = "single_sign_on.test"
    SINGLE_SIGN_ON_UNLINK = "single_sign_on.unlink"
    TEAM_DOMAINS = "team.domains"
    TEAM_SESSIONS = "team.sessions"
    TEAM_SIGN_OUT = "team.sign_out"
    TEAM_TIME_ZONE = "team.time_zone"
    TEAM_TWO_FACTOR = "team.two_factor"
    TOKEN_ADD = "token.add"  # noqa: S105
    TOKEN_REMOVE = "token.remove"  # noqa: S105
    TOKEN_REQUEST = "token.request"  # noqa: S105
    TOKEN_UNDECRYPTABLE = "token.undecryptable"  # noqa: S105
    TOP_UP_CHANGE = "top_up.change"
    VERSIONS_CREATE = "versions.create"
    VIDEO_HIDE = "video.hide"
    VIDEO_IMPORT = "video.import"
    VIDEO_LABEL = "video.label"
    VIDEO_RECHECK = "video.recheck"
    VIDEO_UNHIDE = "video.unhide"
    VOICE_CONSENT = "voice.consent"
    VOICE_CONSENT_WITHDRAW = "voice.consent_withdraw"
    WEBHOOK_REMOVE = "webhook.remove"
    WEBHOOK_SET = "webhook.set"


class AuditAppendOnlyError(Exception):
    """A row of the audit log was to be changed or deleted."""


class AuditActorKind(models.TextChoices):
    PERSON = "person"
    API_KEY = "api_key", "API key"
    SYSTEM = "system"
    UNKNOWN = "unknown", "not signed in"


class AuditSource(models.TextChoices):
    PORTAL = "portal", "Portal"
    COMMAND = "command", "Command line"
    SYSTEM = "system", "Reelroom"


class AuditChainHead(models.Model):
    """The end of a team's chain, locked while a row is added so that no two rows follow the same
    one.

    Lock order: it is the last lock of a transaction, after budgets, approval requests and accounts.
    """

    team_id = models.UUIDField(primary_key=True)
    position = models.PositiveBigIntegerField(default=0)
    row_hash = models.CharField(max_length=64, blank=True)

    def __str__(self) -> str:
        return f"{self.position} audit rows of {self.team_id}"


class AuditChainCheck(models.Model):
    """The last verification of a team's chain. `verified_*` is the last row that was found intact,
    `broken_position` the first one that was not."""

    team_id = models.UUIDField(primary_key=True)
    requested_at = models.DateTimeField(
        null=True, blank=True, help_text="Set while a verification waits or runs."
    )
    checked_at = models.DateTimeField(null=True, blank=True)
    verified_at = models.DateTimeField(
        null=True, blank=True, help_text="When the whole chain was last found intact."
    )
    verified_position = models.PositiveBigIntegerField(default=0)
    verified_hash = models.CharField(max_length=64, blank=True)
    broken_position = models.PositiveBigIntegerField(null=True, blank=True)
    problem = models.CharField(max_length=300, blank=True)

    def __str__(self) -> str:
        return self.problem or f"{self.verified_position} audit rows of {self.team_id} verified"


class AuditEventQuerySet(models.QuerySet["AuditEvent"]):
    def append(self, *, team_id: UUID, **fields: Any) -> AuditEvent:
        """Add a row to the team's chain, which stays locked until the transaction ends."""
        return self.append_all(team_id, [fields])[0]

    @transaction.atomic
    def append_all(self, team_id: UUID, rows: Iterable[Mapping[str, Any]]) -> list[AuditEvent]:
        """Like `append` for many rows; a `happened_at` that they have is kept."""
        head = AuditChainHead.objects.select_for_update().filter(pk=team_id).first()
        if head is None:
            AuditChainHead.objects.bulk_create([AuditChainHead(pk=team_id)], ignore_conflicts=True)
            head = AuditChainHead.objects.select_for_update().get(pk=team_id)
        events = []
        for fields in rows:
            plain = {name: plain_json(fields[name]) for name in ("before", "after", "details")}
            event = AuditEvent(
                **{"happened_at": timezone.now(), **fields, **plain, "team_id": team_id},
                position=head.position + 1,
                previous_hash=head.row_hash,
            )
            event.row_hash = event.compute_hash()
            head.position, head.row_hash = event.position, event.row_hash
            events.append(event)
        self.bulk_create(events)
        head.save(update_fields=["position", "row_hash"])
        return events

    def update(self, **_: Any) -> NoReturn:
        raise AuditAppendOnlyError

    def delete(self) -> NoReturn:
        raise AuditAppendOnlyError


class AuditEvent(models.Model):
    team_id = models.UUIDField()
    team_name = models.CharField(max_length=60)
    position = models.PositiveBigIntegerField(
        help_text="Position in the team's hash chain, from 1."
    )
    happened_at = models.DateTimeField()
    actor_kind = models.CharField(max_length=7, choices=AuditActorKind)
    actor_id = models.CharField(max_length=40, blank=True)
    actor_name = models.CharField(max_length=254)
    source = models.CharField(max_length=7, choices=AuditSource, default=AuditSource.SYSTEM)
    client_ip = models.CharField(max_length=45, blank=True)
    action = models.CharField(max_length=40, choices=AuditAction)
    target = models.CharField(max_length=100)
    before = models.JSONField(default=dict, blank=True)
    after = models.JSONField(default=dict, blank=True)
    details = models.JSONField(default=dict, blank=True)
    previous_hash = models.CharField(max_length=64, blank=True)
    row_hash = models.CharField(max_length=64)

    objects = AuditEventQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team_id", "position"], name="audit_chain_has_no_fork"),
            models.CheckConstraint(
                condition=models.Q(actor_kind__in=AuditActorKind.values),
                name="audit_actor_kind_known",
            ),
            models.CheckConstraint(
                condition=models.Q(source__in=AuditSource.values), name="audit_source_known"
            ),
        ]
        indexes = [
            models.Index(fields=["team_id", "action", "target"], name="audit_of_target"),
            models.Index(fields=["team_id", "actor_id", "position"], name="audit_of_actor"),
            models.Index(fields=["team_id", "source", "position"], name="audit_of_source"),
            models.Index(fields=["team_id", "happened_at"], name="audit_of_time"),
        ]

    def __str__(self) -> str:
        return f"{self.actor_name}: {self.action} {self.target}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise AuditAppendOnlyError
        super().save(*args, **kwargs)

    def delete(self, *_: Any, **__: Any) -> NoReturn:
        raise AuditAppendOnlyError

    def compute_hash(self) -> str:
        """Return the SHA-256 of the canonical JSON of all fields except the row's own key and
        hash."""
        content = {name: getattr(self, name) for name in HASHED_FIELDS}
        content["team_id"] = str(self.team_id)
        content["happened_at"] = self.happened_at.astimezone(UTC).isoformat(timespec="microseconds")
        canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()


def plain_json(value: Any) -> Any:
    """Convert to JSON values that every database returns unchanged. Floats become text, because
    PostgreSQL may rewrite them."""
    text = json.dumps(value, cls=DjangoJSONEncoder)
    return json.loads(text, parse_float=str, parse_constant=str)
