"""A process that opens tokens at random, and calls the service with those it knows.

Arguments: openings a second, and how many of the tokens are called with. It ends when its standard
input does, and then prints how often it opened, called and failed, as JSON.
"""

from __future__ import annotations

import json
import random
import sys
import threading
import time

import django

EVERY = 10  # openings to one call


def main() -> None:
    django.setup()
    from proxyapi import calls, door
    from proxyapi.models import Token

    rate, known = float(sys.argv[1]), int(sys.argv[2])
    ids = list(Token.objects.order_by("created_at", "pk").values_list("pk", flat=True))
    told = {"opened": 0, "called": 0}
    failed: list[str] = []
    ended = threading.Event()
    threading.Thread(target=wait_for_end, args=(ended,), daemon=True).start()
    print("ready", flush=True)
    while not ended.is_set():
        begun = time.monotonic()
        is_call = told["opened"] % EVERY == 0
        try:
            if is_call:
                calls.send(Token.objects.get(pk=random.choice(ids[:known])), "me.get")  # noqa: S311
                told["called"] += 1
            else:
                door.opened(Token.objects.get(pk=random.choice(ids)))  # noqa: S311
            told["opened"] += 1
        except Exception as error:
            failed.append(f"{type(error).__name__}")
        ended.wait(max(0.0, 1 / rate - (time.monotonic() - begun)))
    print(json.dumps({**told, "failed": failed}))


def wait_for_end(ended: threading.Event) -> None:
    sys.stdin.read()
    ended.set()


if __name__ == "__main__":
    main()
