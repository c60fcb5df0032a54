"""The types of events that scripts and webhooks are sent, each with what it says."""

from __future__ import annotations

from django.db.models import TextChoices


class ApiEventType(TextChoices):
    VIDEO_COMPLETED = "video.completed", "a video is finished"
    VIDEO_FAILED = "video.failed", "a video failed"
    CLIP_COMPLETED = "clip.completed", "a clip is finished"
    CLIP_FAILED = "clip.failed", "a clip failed"
    STORYBOARD_COMPLETED = "storyboard.completed", "the film of a storyboard is finished"
    STORYBOARD_FAILED = "storyboard.failed", "the film of a storyboard failed"
    VOICE_COMPLETED = "voice.completed", "a cloned voice is ready"
    VOICE_FAILED = "voice.failed", "a voice could not be cloned"
    CHARACTER_COMPLETED = "character.completed", "a character is trained"
    CHARACTER_FAILED = "character.failed", "a character could not be trained"
    CHARGE_UNKNOWN = "charge.unknown", "the answer to a charge was lost"
    CHARGE_SETTLED = "charge.settled", "a charge has ended: charged, refused or given up"
    APPROVAL_REQUESTED = "approval.requested", "a charge waits for a person"
    APPROVAL_APPROVED = "approval.approved", "it was approved and is sent"
    APPROVAL_DECLINED = "approval.declined", "it was declined, nothing is sent"
    APPROVAL_CANCELLED = "approval.cancelled", "whoever asked withdrew it"
    APPROVAL_EXPIRED = "approval.expired", "it was outdated when it was approved"
    APPROVAL_SENT = "approval.sent", "what was approved reached the service"
    APPROVAL_FAILED = "approval.failed", "what was approved was not charged"
    CREDITS_LOW = "credits.low", "free credits are below an alert threshold"
