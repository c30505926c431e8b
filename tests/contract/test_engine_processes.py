"""What only an engine of processes can show: its workers are killed, its parent is killed, Ctrl-C is pressed (F1)."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # worker processes find the tasks by the parent's import path

import engine_tasks as tasks
from engine_tasks import Piece
from engine_watch import PATIENCE_S, all_frames, finish_all, import_path, runs, wait_until

from nephila.engine import Engine, open_engine
from nephila.engine.local import LocalEngine
from nephila.engine.nursery import Nursery
from nephila.errors import WorkerDiedError


@pytest.fixture(params=["forked", "started"])
def local(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """Workers from a nursery, and those of a process that has threads already."""
    monkeypatch.setattr(Nursery, "open", Nursery.fork if request.param == "forked" else lambda: None)
    with open_engine("local", 2) as opened:
        yield opened
    gc.collect()  # a socket or a process left open is a warning, and warnings are errors


# map


def test_map_uses_no_more_processes_than_workers_and_keeps_them(local: Engine) -> None:
    first = set(local.map(tasks.process_of, range(50)))
    second = set(local.map(tasks.process_of, range(50)))

    assert os.getpid() not in first
    assert first | second == first
    assert 1 <= len(first) <= 2


@pytest.mark.parametrize("open_nursery", [Nursery.fork, lambda: None])
def test_what_a_task_prints_goes_to_stderr(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, open_nursery: Callable[[], Nursery | None]
) -> None:
    monkeypatch.setattr(Nursery, "open", open_nursery)
    with open_engine("local", 1) as engine:
        list(engine.map(tasks.speak, [1]))

    captured = capfd.readouterr()
    assert "spoken on stdout" in captured.err
    assert captured.out == ""


def test_a_pinned_worker_has_one_core() -> None:
    with open_engine("local", 2, pin=True) as engine:
        assert set(engine.map(tasks.cores_of, range(4))) == {1}


def test_a_killed_map_worker_is_noticed_and_its_partition_given_to_another(local: Engine, tmp_path: Path) -> None:
    # given a worker blocked in partition 1
    mark = tmp_path / "1.pid"
    results = local.map(tasks.block_on_first_try, [Piece(number, tmp_path) for number in range(6)])
    assert next(results) == 0
    wait_until(mark.exists)

    # when it is killed
    os.kill(int(mark.read_text()), signal.SIGKILL)

    # then nothing is missing
    assert list(results) == [1, 2, 3, 4, 5]


def test_a_partition_that_kills_every_worker_is_named_after_three_tries(local: Engine, tmp_path: Path) -> None:
    results = local.map(tasks.die, [Piece(number, tmp_path) for number in range(5)])
    assert [next(results), next(results)] == [0, 1]

    with pytest.raises(WorkerDiedError, match=r"partition 2 .*number=2.*3 dead worker.*SIGKILL"):
        next(results)

    assert (tmp_path / "tries").read_text() == "xxx"
    assert list(local.map(tasks.double, [4])) == [8]


def test_workers_killed_while_idle_are_replaced(local: Engine) -> None:
    for pid in set(local.map(tasks.process_of, range(50))):
        os.kill(pid, signal.SIGKILL)

    assert list(local.map(tasks.double, range(5))) == [0, 2, 4, 6, 8]


def test_closing_a_map_ends_the_workers_that_are_at_work(local: Engine, tmp_path: Path) -> None:
    mark = tmp_path / "1.pid"
    results = local.map(tasks.block_on_first_try, [Piece(0, tmp_path), Piece(1, tmp_path)])
    next(results)
    wait_until(mark.exists)

    results.close()

    assert not runs(int(mark.read_text()))


def test_closing_the_engine_ends_its_processes() -> None:
    with open_engine("local", 2) as engine:
        pids = set(engine.map(tasks.process_of, range(20)))

    assert not any(runs(pid) for pid in pids)


# spawn


async def test_a_killed_worker_is_noticed_and_its_work_given_out_again(local: Engine) -> None:
    # given a worker that answers
    (handle,) = await local.spawn(tasks.echo, [b"1"])
    await handle.send(b"work")
    assert await handle.receive() == b"1work"
    assert handle.pid is not None

    # when it is killed while its parent waits for it
    waiting = asyncio.create_task(handle.receive())
    await asyncio.sleep(0)
    os.kill(handle.pid, signal.SIGKILL)

    # then the parent learns of it, and another does the work
    async with asyncio.timeout(PATIENCE_S):
        assert await waiting is None
    assert not handle.alive
    assert await handle.join() == -signal.SIGKILL
    assert not await handle.send(b"work")
    (other,) = await local.spawn(tasks.echo, [b"2"])
    await other.send(b"work")
    assert await other.receive() == b"2work"
    assert other.number == 1
    await finish_all([other])


async def test_the_last_words_of_an_ended_worker_are_heard_even_if_a_send_fails_first(local: Engine) -> None:
    # given a worker that sent and ended while its parent's event loop stood still
    (handle,) = await local.spawn(tasks.count_up, [100])
    assert handle.pid is not None
    pid = handle.pid
    wait_until(lambda: not runs(pid))

    # when the parent first sends, which fails
    await handle.send(b"to nobody")

    # then nothing is lost
    assert [int(frame) async for frame in all_frames(handle)] == list(range(100))
    assert await handle.join() == 0


async def test_a_sender_that_waits_for_a_killed_worker_is_let_go(local: Engine, tmp_path: Path) -> None:
    (handle,) = await local.spawn(tasks.oversleep, [tmp_path])

    async def send_for_ever() -> None:
        while await handle.send(bytes(2**20)):
            pass

    sending = asyncio.create_task(send_for_ever())
    await asyncio.to_thread(wait_until, (tmp_path / f"{handle.pid}.pid").exists)
    handle.kill()

    async with asyncio.timeout(PATIENCE_S):
        await sending
    assert await handle.join() == -signal.SIGKILL


async def test_a_worker_ignores_ctrl_c_and_stays_in_the_session(local: Engine) -> None:
    (handle,) = await local.spawn(tasks.tell_signal_state, [0])

    assert await handle.receive() == b"True False True"
    await handle.join()
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


async def test_ctrl_c_during_a_workers_start_does_not_end_it(local: Engine) -> None:
    (handle,) = await local.spawn(tasks.echo, [b""])
    assert handle.pid is not None
    os.kill(handle.pid, signal.SIGINT)

    await handle.send(b"still here")

    assert await handle.receive() == b"still here"
    await finish_all([handle])


def test_a_parent_on_uvloop_sees_the_same(local: Engine, tmp_path: Path) -> None:
    uvloop = pytest.importorskip("uvloop")

    async def life() -> None:
        echoing, flooding = await local.spawn(tasks.echo, [b">"]), await local.spawn(tasks.flood, [tmp_path])
        large = os.urandom(5 * 10**6)
        await echoing[0].send(large)
        assert await echoing[0].receive() == b">" + large
        await finish_all(echoing)
        await asyncio.to_thread(wait_until, (tmp_path / "held_back").exists)
        flooding[0].kill()
        assert await flooding[0].join() == -signal.SIGKILL
        assert not flooding[0].alive
        assert len([frame async for frame in all_frames(flooding[0])]) > 0

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(life())


def test_a_killed_parent_leaves_no_worker_behind(tmp_path: Path) -> None:
    # given a parent with deaf workers, a listening one and a map in its midst
    script = Path(__file__).with_name("engine_tasks.py")
    parent = subprocess.Popen([sys.executable, script, tmp_path], env=os.environ | {"PYTHONPATH": import_path()})
    wait_until(lambda: len(list(tmp_path.glob("*.pid"))) == 4)
    pids = [int(mark.read_text() or mark.stem) for mark in tmp_path.glob("*.pid")]
    assert all(runs(pid) for pid in pids)

    # when it is killed
    parent.kill()
    parent.wait()

    # then all of them end by themselves
    wait_until(lambda: not any(runs(pid) for pid in pids))


async def test_an_engine_that_closes_ends_spawned_workers(tmp_path: Path) -> None:
    with open_engine("local", 1) as engine:
        (waiting,) = await engine.spawn(tasks.clean_up, [tmp_path])
        (deaf,) = await engine.spawn(tasks.oversleep, [tmp_path])
        assert await waiting.receive() == b"ready"
        await asyncio.to_thread(wait_until, (tmp_path / f"{deaf.pid}.pid").exists)

    assert (tmp_path / "cleaned").exists()
    assert waiting.pid and not runs(waiting.pid)
    assert deaf.pid and not runs(deaf.pid)


# The nursery


async def test_workers_die_with_their_nursery_and_others_are_started(monkeypatch: pytest.MonkeyPatch) -> None:
    # given a worker that a nursery forked
    monkeypatch.setattr(Nursery, "open", Nursery.fork)
    with LocalEngine(2) as engine:
        nursery = engine._nursery
        assert nursery is not None
        [first] = await engine.spawn(tasks.echo, [b""])
        # when the nursery is killed
        os.kill(nursery.pid, signal.SIGKILL)
        # then its worker is dead too, and the next one is started without it
        assert await asyncio.wait_for(first.join(), PATIENCE_S) == -signal.SIGKILL
        [second] = await engine.spawn(tasks.echo, [b""])
        await second.send(b"hello")
        assert await asyncio.wait_for(second.receive(), PATIENCE_S) == b"hello"
        second.finish()
        assert await asyncio.wait_for(second.join(), PATIENCE_S) == 0


def test_workers_live_though_their_parent_had_an_event_loop_before_it_had_a_nursery() -> None:
    # given a process in which uvloop ran before: libuv has a pipe of its own since then, and dies without it
    script = """if True:
        import asyncio, uvloop
        import engine_tasks as tasks
        from nephila.engine.local import LocalEngine
        from nephila.engine.nursery import Nursery

        async def talk(engine):
            [handle] = await engine.spawn(tasks.echo, [b""])
            await handle.send(b"hello")
            print(await handle.receive())
            handle.finish()
            print(await handle.join())

        for _ in range(2):
            with LocalEngine(1) as engine:
                assert engine._nursery is not None
                uvloop.run(talk(engine))
    """
    ran = subprocess.run([sys.executable, "-c", script], env=os.environ | {"PYTHONPATH": import_path()},
                         capture_output=True, text=True, timeout=PATIENCE_S, check=False)  # fmt: skip
    assert (ran.stdout, ran.stderr) == ("b'hello'\n0\n" * 2, "")


def test_a_process_with_threads_has_no_nursery() -> None:
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        assert Nursery.open() is None
    finally:
        done.set()
        thread.join()
