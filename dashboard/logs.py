"""Log lines for people and machines; the last step strikes out whatever looks like a token."""

from __future__ import annotations

import logging
import re

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

SECRET_SHAPES = re.compile(r"(?i)(bearer\s+)\S+|\b(sbx|rr)_[A-Za-z0-9_\-]{8,}")


def strike_out(_: WrappedLogger, __: str, event: EventDict) -> EventDict:
    return {
        key: _struck(value) if isinstance(value, str) else value for key, value in event.items()
    }


def _struck(text: str) -> str:
    return SECRET_SHAPES.sub(lambda found: f"{found.group(1) or ''}[struck out]", text)


SHARED: list[Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.ExtraAdder(),
    structlog.processors.format_exc_info,
]


def join() -> None:
    """Send structlog's own events the same way, through the same redaction."""
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *SHARED,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )


class NoProbes(logging.Filter):
    """Leaves out the requests of whoever watches over the process: they come every few seconds."""

    def filter(self, record: logging.LogRecord) -> bool:
        event = record.msg if isinstance(record.msg, dict) else vars(record)
        request = event.get("request") or ""
        path = request if isinstance(request, str) else getattr(request, "path", "")
        return not path.endswith(("/healthz", "/readyz"))


def formatter() -> logging.Formatter:
    """One line an event; redaction comes last, so that nothing added before it slips through."""
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=SHARED,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            strike_out,
            structlog.processors.KeyValueRenderer(key_order=["level", "event"], drop_missing=True),
        ],
    )
