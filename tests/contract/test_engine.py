"""What every engine promises (engine/seam.py), held against each."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # worker processes find the tasks by the parent's import path

import engine_tasks as tasks
from engine_tasks import Counted, Piece
from engine_watch import all_frames, finish_all, wait_until

from nephila.engine import Engine, FrameTooLargeError, TaskError, open_engine
from nephila.engine.frames import MAX_FRAME_BYTES
from nephila.engine.spreading import LOOK_AHEAD
from nephila.errors import DiskFullError, UsageError


@pytest.fixture(params=["inline", "local"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with open_engine(request.param, 2) as opened:
        yield opened
    gc.collect()  # a socket or a process left open is a warning, and warnings are errors


# Opening


def test_an_unknown_engine_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"no engine 'spark'.*inline, local"):
        open_engine("spark", 2)


def test_the_ray_engine_is_refused_with_its_extra() -> None:
    with pytest.raises(UsageError, match=r"pip install nephila\[ray\]"):
        open_engine("ray", 2)


def test_an_engine_without_workers_is_refused() -> None:
    with pytest.raises(UsageError, match="at least 1"):
        open_engine("local", 0)


# map


def test_results_come_in_the_order_of_the_partitions(engine: Engine) -> None:
    assert list(engine.map(tasks.double, range(100))) == [2 * number for number in range(100)]


def test_frozen_rows_and_paths_travel_both_ways(engine: Engine, tmp_path: Path) -> None:
    pieces = [Piece(1, tmp_path, ("a", "bc")), Piece(2, tmp_path)]

    counted = list(engine.map(tasks.count_letters, pieces))

    assert counted == [Counted(1, 3, tmp_path / "counted"), Counted(2, 0, tmp_path / "counted")]


def test_a_map_of_no_partitions_gives_no_results(engine: Engine) -> None:
    assert list(engine.map(tasks.double, [])) == []


def test_partitions_are_taken_only_a_little_ahead_of_the_results(engine: Engine) -> None:
    taken: list[int] = []

    def endless() -> Iterator[int]:
        number = 0
        while True:
            taken.append(number)
            yield number
            number += 1

    results = engine.map(tasks.double, endless())
    assert taken == []

    for given in range(1, 31):
        assert next(results) == 2 * (given - 1)
        assert len(taken) <= given + engine.workers * LOOK_AHEAD
    results.close()


def test_an_exception_in_a_task_reaches_the_caller_with_its_traceback(engine: Engine) -> None:
    results = engine.map(tasks.fail_on_three, range(10))

    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(TaskError, match=r"engine_tasks:fail_on_three failed on partition 3: ValueError") as caught:
        next(results)

    assert 'raise ValueError("three is too many")' in str(caught.value)


def test_an_engine_goes_on_after_a_failed_task(engine: Engine) -> None:
    with pytest.raises(TaskError):
        list(engine.map(tasks.fail_on_three, range(10)))

    assert list(engine.map(tasks.double, range(3))) == [0, 2, 4]


def test_an_error_of_ours_arrives_as_the_same_class_with_the_same_sentence(engine: Engine) -> None:
    with pytest.raises(DiskFullError) as caught:
        list(engine.map(tasks.find_disk_full, [1]))

    assert str(caught.value) == "there is no room left on the disk; make some and run the command again"
    assert "find_disk_full" in caught.value.__notes__[0]


def test_a_result_that_is_not_as_annotated_is_an_error(engine: Engine) -> None:
    with pytest.raises(TaskError, match=r"the result of engine_tasks:break_promise is not what its annotation says"):
        list(engine.map(tasks.break_promise, [1]))


def test_a_partition_that_is_not_as_annotated_is_an_error(engine: Engine) -> None:
    with pytest.raises(TaskError, match=r"partition given to engine_tasks:double"):
        list(engine.map(tasks.double, ["one"]))  # type: ignore[arg-type]


def test_a_partition_that_cannot_be_packed_is_an_error(engine: Engine) -> None:
    with pytest.raises(TaskError, match="partition 0 of engine_tasks:double cannot travel"):
        list(engine.map(tasks.double, [object()]))  # type: ignore[arg-type]


@pytest.mark.parametrize("task", [lambda number: number, tasks.without_annotations, len, "double"])
def test_what_cannot_travel_by_name_is_refused_at_once(engine: Engine, task: Callable[[int], int]) -> None:
    with pytest.raises(TaskError):
        engine.map(task, [1])


def test_an_oversize_result_is_refused(engine: Engine) -> None:
    with pytest.raises(FrameTooLargeError, match="write it to a file"):
        list(engine.map(tasks.make_bytes, [MAX_FRAME_BYTES]))


def test_a_second_map_is_refused_while_the_first_is_not_at_its_end(engine: Engine) -> None:
    first = engine.map(tasks.double, range(10))
    next(first)

    with pytest.raises(TaskError, match="exhaust or close it first"):
        next(engine.map(tasks.double, range(10)))

    first.close()
    assert list(engine.map(tasks.double, [1])) == [2]


# spawn


async def test_a_thousand_messages_come_back_in_order(engine: Engine) -> None:
    (handle,) = await engine.spawn(tasks.echo, [b">"])

    async def send_all() -> None:
        for number in range(1000):
            assert await handle.send(str(number).encode())
        handle.finish()

    sending = asyncio.create_task(send_all())
    received = [frame async for frame in all_frames(handle)]
    await sending

    assert received == [b">%d" % number for number in range(1000)]
    assert await handle.join() == 0
    assert not handle.alive


async def test_each_worker_has_its_argument_its_number_and_its_channel(engine: Engine) -> None:
    handles = await engine.spawn(tasks.echo, [b"a", b"b", b"c"])
    for handle in handles:
        await handle.send(b"!")

    assert [await handle.receive() for handle in handles] == [b"a!", b"b!", b"c!"]
    assert [handle.number for handle in handles] == [0, 1, 2]
    assert all(handle.alive for handle in handles)
    assert {handle.pid is None for handle in handles} == {engine.name == "inline"}
    await finish_all(handles)


async def test_a_frame_of_five_megabytes_and_an_empty_one_arrive_whole(engine: Engine) -> None:
    (handle,) = await engine.spawn(tasks.echo, [b""])
    large = os.urandom(5 * 10**6)

    await handle.send(large)
    await handle.send(b"")

    assert await handle.receive() == large
    assert await handle.receive() == b""
    await finish_all([handle])


async def test_an_oversize_frame_is_refused_and_the_channel_goes_on(engine: Engine) -> None:
    (handle,) = await engine.spawn(tasks.echo, [b""])

    with pytest.raises(FrameTooLargeError):
        await handle.send(bytes(MAX_FRAME_BYTES + 1))

    await handle.send(b"small")
    assert await handle.receive() == b"small"
    await finish_all([handle])


async def test_a_worker_that_sends_an_oversize_frame_fails(engine: Engine) -> None:
    (handle,) = await engine.spawn(tasks.send_oversize, [MAX_FRAME_BYTES + 1])

    assert await handle.receive() is None
    assert await handle.join() == 1


async def test_all_that_a_worker_sent_before_it_ended_is_received(engine: Engine) -> None:
    (handle,) = await engine.spawn(tasks.count_up, [5000])

    while handle.alive and await handle.send(b"to somebody who does not listen"):  # noqa: ASYNC110
        await asyncio.sleep(0)

    assert [int(frame) async for frame in all_frames(handle)] == list(range(5000))
    assert await handle.receive() is None
    assert not await handle.send(b"too late")
    assert await handle.join() == 0


async def test_what_a_worker_left_can_be_received_after_its_end(engine: Engine) -> None:
    (handle,) = await engine.spawn(tasks.count_up, [100])

    assert await handle.join() == 0

    assert [int(frame) async for frame in all_frames(handle)] == list(range(100))


async def test_a_cancelled_receive_loses_nothing(engine: Engine) -> None:
    (handle,) = await engine.spawn(tasks.echo, [b""])
    waiting = asyncio.create_task(handle.receive())
    await asyncio.sleep(0)
    waiting.cancel()

    await handle.send(b"first")

    assert await handle.receive() == b"first"
    await finish_all([handle])


# Workers may print to what was stderr when their engine was opened, so these two open it while it is captured.


@pytest.mark.parametrize("name", ["inline", "local"])
async def test_an_exception_in_a_worker_is_on_stderr_and_in_its_exit_code(
    capfd: pytest.CaptureFixture[str], name: str
) -> None:
    with open_engine(name, 2) as engine:
        (handle,) = await engine.spawn(tasks.fail, ["the worker cannot go on"])

        assert await handle.receive() is None
        assert await handle.join() == 1
    stderr = capfd.readouterr().err
    assert "Traceback" in stderr
    assert "ValueError: the worker cannot go on" in stderr


@pytest.mark.parametrize("name", ["inline", "local"])
async def test_an_error_of_ours_in_a_worker_is_its_sentence_and_its_exit_code(
    capfd: pytest.CaptureFixture[str], name: str
) -> None:
    with open_engine(name, 2) as engine:
        (handle,) = await engine.spawn(tasks.fill_disk, ["the disk is full; make room"])

        assert await handle.join() == 3
    assert capfd.readouterr().err == "the disk is full; make room\n"


async def test_a_terminated_worker_cleans_up(engine: Engine, tmp_path: Path) -> None:
    (handle,) = await engine.spawn(tasks.clean_up, [tmp_path])
    assert await handle.receive() == b"ready"

    handle.terminate()

    assert await handle.join() == -signal.SIGTERM
    assert (tmp_path / "cleaned").exists()


async def test_a_slow_receiver_holds_the_sender_back(engine: Engine, tmp_path: Path) -> None:
    # given a worker that would send 200 MiB, and a parent that receives three frames of 1 MiB
    (handle,) = await engine.spawn(tasks.flood, [tmp_path])
    for _ in range(3):
        assert len(await handle.receive() or b"") == 2**20

    # when the parent receives no more
    await asyncio.to_thread(wait_until, (tmp_path / "held_back").exists)

    # then only what fits into the buffers was sent
    assert 3 <= int((tmp_path / "held_back").read_text()) < 30
    handle.kill()
    assert await handle.join() == -signal.SIGKILL
