"""Log lines for people and machines; the last step strikes out whatever looks like a token."""

from __future__ import annotations

import logging
import re

import structlog
from structlog.typing import EventDict, WrappedLogger

SECRET_SHAPES = re.compile(r"(?i)(bearer\s+)\S+|\b(sbx|rr)_[A-Za-z0-9_\-]{8,}")


def strike_out(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    return {
        key: _struck(value) if isinstance(value, str) else value for key, value in event.items()
    }


def _struck(text: str) -> str:
    return SECRET_SHAPES.sub(lambda found: f"{found.group(1) or ''}[struck out]", text)


def formatter() -> logging.Formatter:
    """One line an event; redaction comes last, so that nothing added before it slips through."""
    shared = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.format_exc_info,
    ]
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            strike_out,
            structlog.processors.KeyValueRenderer(key_order=["level", "event"], drop_missing=True),
        ],
    )
