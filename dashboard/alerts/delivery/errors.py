"""Delivery errors. Their sentences contain no secret and no response body.

DeliveryFailed      is retried
└── Undeliverable   is not retried: another attempt would fail the same way
"""

from __future__ import annotations


class DeliveryFailed(Exception):
    def __init__(self, sentence: str, status: int | None = None) -> None:
        super().__init__(sentence)
        self.sentence, self.status = sentence, status


class Undeliverable(DeliveryFailed):
    pass
