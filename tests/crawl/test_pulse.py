"""The probe in the agent's loop sees what holds it up."""

from __future__ import annotations

import asyncio
import time

from nephila.crawl.pulse import BEAT_S, Pulse, read_memory


async def test_a_loop_that_is_held_up_is_noticed_and_whose_work_it_was() -> None:
    # given a pulse that beats
    pulse = Pulse()
    pulse.start()
    await asyncio.sleep(0)
    # when something computes for three beats without a pause
    until = time.thread_time() + 3 * BEAT_S
    while time.thread_time() < until:
        pass
    while not pulse.worst_lag_s:  # noqa: ASYNC110  the pulse tells nobody
        await asyncio.sleep(BEAT_S)
    pulse.stop()
    # then both the lag and our part of it are known
    assert pulse.worst_lag_s >= 1.5 * BEAT_S
    assert pulse.worst_lag_s >= pulse.worst_work_s >= 1.5 * BEAT_S


async def test_memory_is_the_kernels_own_count() -> None:
    memory = read_memory()
    assert 10 * 2**20 < memory.now_bytes <= memory.most_bytes
