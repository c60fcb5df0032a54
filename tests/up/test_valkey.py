"""What is asked of the private Valkey while it comes and goes."""

from __future__ import annotations

import asyncio
import socket

from dashboard.up import valkey


def test_nobody_has_not_answered(tmp_path):
    assert asyncio.run(valkey.is_valkey_ready(tmp_path / "nobody.sock")) is False


def test_one_that_hangs_up_instead_of_answering_has_not_answered(tmp_path):
    path = tmp_path / "busy.sock"

    async def asked_of_one_that_hangs_up(listening: socket.socket) -> bool:
        asked = asyncio.create_task(valkey.is_valkey_ready(path))
        line, _ = await asyncio.to_thread(listening.accept)
        await asyncio.to_thread(line.recv, 1, socket.MSG_PEEK)
        line.close()  # with the question unread: the asker sees a reset, not an end
        return await asked

    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()
        assert asyncio.run(asked_of_one_that_hangs_up(listening)) is False
