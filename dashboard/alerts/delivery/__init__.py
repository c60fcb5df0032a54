"""Delivery of alerts by e-mail and webhook. Tasks use `queue`, actions `webhook`."""

from __future__ import annotations
