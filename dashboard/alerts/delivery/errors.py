"""Why an alert did not arrive, in sentences that hold no secret and no body of an answer.

DeliveryFailed      it is tried again
└── Undeliverable   it is not: another try would end the same
"""

from __future__ import annotations


class DeliveryFailed(Exception):
    def __init__(self, sentence: str, status: int | None = None) -> None:
        super().__init__(sentence)
        self.sentence, self.status = sentence, status


class Undeliverable(DeliveryFailed):
    pass
