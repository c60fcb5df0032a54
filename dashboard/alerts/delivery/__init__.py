"""Delivery of alerts by email and webhook. Tasks use `queue`, actions `webhook`."""

from __future__ import annotations
