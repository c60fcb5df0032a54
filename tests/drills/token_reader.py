"""A process that opens tokens at random, and calls the service with those it knows.

Arguments: openings a second, and how many of the tokens are called with. It ends when its standard
input does, and then prints when it opened, by the machine's clock, how often it called and what
failed, as JSON.
"""

from __future__ import annotations

import json
import random
import sys
import threading
import time
from itertools import count

import django

EVERY = 10  # openings to one call


def main() -> None:
    django.setup()
    from proxyapi import calls
    from proxyapi.credentials import token_vault
    from proxyapi.models import Token
    from proxyapi.rate_limiter import Permit

    rate, known = float(sys.argv[1]), int(sys.argv[2])
    ids = list(Token.objects.order_by("created_at", "pk").values_list("pk", flat=True))
    opened: list[float] = []
    called, failed = 0, list[str]()
    ended = threading.Event()
    threading.Thread(target=wait_for_stdin_end, args=(ended,), daemon=True).start()
    print("ready", flush=True)
    # An opening that took long is made up for by those after it.
    for due in count(time.monotonic(), 1 / rate):
        if ended.wait(max(0.0, due - time.monotonic())):
            break
        is_call = len(opened) % EVERY == 0
        try:
            if is_call:
                token = Token.objects.get(pk=random.choice(ids[:known]))  # noqa: S311
                calls.send_request(token, "me.get", Permit(True, 0))
                called += 1
            else:
                token_vault.decrypt_token(Token.objects.get(pk=random.choice(ids)))  # noqa: S311
            opened.append(time.monotonic())
        except Exception as error:
            failed.append(f"{type(error).__name__}")
    print(json.dumps({"opened": opened, "called": called, "failed": failed}))


def wait_for_stdin_end(ended: threading.Event) -> None:
    sys.stdin.read()
    ended.set()


if __name__ == "__main__":
    main()
