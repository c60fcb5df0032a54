"""Faceless videos of every type."""

from __future__ import annotations

from typing import Any

from proxyapi.kinds import faceless_draft
from proxyapi.kinds.declaration import KindSpec, UpstreamRecord
from proxyapi.kinds.faceless_draft import script_digest
from proxyapi.kinds.job_parts import parse_part_list
from proxyapi.models import Charge
from proxyapi.models.job_part import ASSETS
from proxyapi.operations import EXPORT_OPERATION, JobKind, Operation
from proxyapi.upstream.status_words import says_failure


class FacelessKind(KindSpec):
    def resource_in(self, data: Any) -> UpstreamRecord:
        return faceless_draft.faceless_record(data)

    def picture_url_in(self, data: Any) -> str:
        """The first picture of the assets: a scene's, or the page's."""
        parts = (parse_part_list(self.resource_in(data), ASSETS) or {}).values()
        pictures = (part for part in parts if part["details"].get("type") != "video")
        return next((part["media_url"] for part in pictures if part["media_url"]), "")

    def snapshot(self, operation: Operation, record: UpstreamRecord) -> UpstreamRecord:
        stored = super().snapshot(operation, record)
        if operation.name == EXPORT_OPERATION:
            stored["captions"] = record.get("captions", False)
        return {**stored, "script": script_digest(record.get("script"))}

    def request_body(self, charge: Charge) -> UpstreamRecord:
        body = super().request_body(charge)
        if charge.operation != EXPORT_OPERATION:
            return body
        captions = faceless_draft.export_captions(charge)
        return {**body, "captions": captions} if captions else body

    def proves(self, operation: Operation, before: UpstreamRecord, record: UpstreamRecord) -> bool:
        if operation.writes_script:
            script = record.get("script")
            return bool(script) and script_digest(script) != before.get("script")
        if operation.restarts_failed:
            # It starts from `failed`, so the same status again proves nothing.
            is_failed = says_failure(self.reported_status(operation, record))
            return not is_failed and self.has_status_changed(operation, before, record)
        return super().proves(operation, before, record)

    def is_debit_enough(self, operation: Operation, before: UpstreamRecord) -> bool:
        # A run that no longer moves is retried from "rendering", which the retry then shows again.
        is_retry = operation.restarts_failed and bool(before.get("status"))
        is_enough = is_retry or super().is_debit_enough(operation, before)
        return not operation.writes_script and is_enough


FACELESS = FacelessKind(
    JobKind.FACELESS,
    "video",
    "video",
    frozenset({"completed"}),
    prepare=faceless_draft.sync_draft,
    quote=faceless_draft.quote_draft,
    preconditions=faceless_draft.missing_render_fields,
    part_lists=faceless_draft.PART_LISTS,
)
