"""The e-mails of a demo without a mail server: kept, and shown on a page."""

from __future__ import annotations
