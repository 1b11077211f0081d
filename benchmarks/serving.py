"""`nungil serve` on loopback: many clients, batching against one at a time, and twice as much as it can do.

    python benchmarks/serving.py runs/demo
    python benchmarks/serving.py runs/demo --clients 1,8,64,256 --seconds 10

Each client asks for one sentence, waits for its translation, and asks again. All clients are one process on the same
machine, so that what they cost is in the figures. At twice the capacity requests come at a fixed pace, whether or not
the ones before are answered. Then every answer must be a translation in time, a 503 with Retry-After, or a 504 at its
deadline; memory must stay flat; nothing may be lost; and afterwards one client must be answered as fast as before.
"""

import argparse
import asyncio
import contextlib
import json
import math
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Coroutine, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from nungil.text.snow.corpus import snow_pairs

SENTENCES, LENGTHS, SEED = 512, (3, 8), 7
DEADLINE = 2.0  # seconds, of the server that is asked for twice what it can do
LATE = 1.0  # seconds by which an answer may come after its deadline: the machine is as busy as the server
QUEUE = 4_000  # source tokens that may wait there
MOST = 40_000  # requests of one measurement
OPEN = 900  # connections at a time; a request that finds none free waits, and its time counts
FLAT = 1.25  # how much memory may grow in the second half of a flood
LIMIT = 120.0  # seconds, of any one answer


@dataclass
class Reply:
    """One answer: its status, what it took, and whether it said when to come again."""

    status: int
    seconds: float
    retry: bool = False


@dataclass
class Client:
    """One connection, kept open."""

    host: str
    port: int
    streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
    lost: int = field(default=0)

    async def ask(self, body: bytes) -> Reply:
        """Send a request and read its answer whole; status 0 if the connection broke."""
        began = time.perf_counter()
        try:
            async with asyncio.timeout(LIMIT):
                return await self._ask(body, began)
        except (OSError, asyncio.IncompleteReadError, TimeoutError):
            self.close()
            return Reply(0, time.perf_counter() - began)

    async def _ask(self, body: bytes, began: float) -> Reply:
        if self.streams is None:
            self.streams = await asyncio.open_connection(self.host, self.port)
        reader, writer = self.streams
        head = f"POST /v1/translate HTTP/1.1\r\nHost: {self.host}\r\nContent-Type: application/json\r\n"
        writer.write(head.encode() + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        await writer.drain()
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines[1:] if ": " in line)
        await reader.readexactly(int(headers["content-length"]))
        if headers.get("connection") == "close":
            self.close()
        return Reply(int(lines[0].split()[1]), time.perf_counter() - began, "retry-after" in headers)

    def close(self) -> None:
        """Leave."""
        if self.streams is not None:
            self.streams[1].close()
        self.streams = None


@contextlib.contextmanager
def serving(folder: str, *options: str) -> Iterator[tuple[subprocess.Popen[str], str, int]]:
    """The command as a user starts it; the process, its host and its port."""
    command = [sys.executable, "-m", "nungil", "serve", f"bench={folder}", "--port", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            line = process.stdout.readline() if process.stdout else ""
            if not line.startswith("nungil is serving at "):
                sys.exit(f"{folder}: not served; try: nungil serve {folder}")
            place = urlsplit(line.split()[-1])
            yield process, place.hostname or "", place.port or 0
        finally:
            process.terminate()
            process.wait(60)


def bodies() -> list[bytes]:
    """Requests of one sentence each."""
    pairs = snow_pairs(SENTENCES, SEED, LENGTHS)
    return [json.dumps({"texts": [pair.english]}).encode() for pair in pairs]


async def closed_loop(host: str, port: int, clients: int, seconds: float) -> tuple[list[Reply], float]:
    """So many clients, each asking again as soon as it is answered. The answers, and how long it took."""
    texts, replies = bodies(), list[Reply]()
    end = time.perf_counter() + seconds

    async def one(number: int) -> None:
        client, place = Client(host, port), number * 37
        while time.perf_counter() < end and len(replies) < MOST:
            replies.append(await client.ask(texts[place % len(texts)]))
            place += 1
        client.close()

    began = time.perf_counter()
    await asyncio.gather(*(one(number) for number in range(clients)))
    return replies, time.perf_counter() - began


async def paced(host: str, port: int, rate: float, seconds: float) -> list[Reply]:
    """Requests at a fixed pace, answered or not."""
    texts, replies, free = bodies(), [], asyncio.LifoQueue[Client]()
    for _ in range(OPEN):
        free.put_nowait(Client(host, port))

    async def one(number: int, due: float) -> None:
        client = await free.get()
        reply = await client.ask(texts[number % len(texts)])
        replies.append(Reply(reply.status, time.perf_counter() - due, reply.retry) if reply.status == 0 else reply)
        free.put_nowait(client)

    began, tasks = time.perf_counter(), []
    for number in range(min(MOST, int(rate * seconds))):
        due = began + number / rate
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        tasks.append(asyncio.ensure_future(one(number, due)))
    await asyncio.gather(*tasks)
    while not free.empty():
        free.get_nowait().close()
    return replies


async def memory_of(process: int, found: list[float]) -> None:
    """Megabytes of a process, twice a second, until it is cancelled."""
    while True:
        found.append(resident(process))
        await asyncio.sleep(0.5)


def resident(process: int) -> float:
    """Megabytes that a process has in memory."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


def percentile(seconds: Sequence[float], share: float) -> float:
    """Milliseconds that this share of answers took at most."""
    ordered = sorted(seconds)
    return 1000 * ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1)] if ordered else math.nan


def line(name: str, replies: Sequence[Reply], took: float) -> tuple[str, float]:
    """One row of the table, and the requests in a second."""
    good = [reply.seconds for reply in replies if reply.status == 200]
    rate = len(good) / took
    wrong = "" if len(good) == len(replies) else f"   {len(replies) - len(good)} not answered"
    return f"{name:<34}{rate:9.1f}{percentile(good, 0.5):10.1f}{percentile(good, 0.99):10.1f}{wrong}", rate


def measure_clients(folder: str, counts: Sequence[int], seconds: float, *options: str) -> dict[int, float]:
    """The table of one server: requests in a second by the number of clients."""
    rates = {}
    with serving(folder, *options) as (_, host, port):
        asyncio.run(closed_loop(host, port, 4, 1.0))  # warm
        for count in counts:
            replies, took = asyncio.run(closed_loop(host, port, count, seconds))
            text, rates[count] = line(f"{count} clients{' one at a time' if options else ''}", replies, took)
            print(text, flush=True)
    return rates


def flood(folder: str, rate: float, seconds: float) -> bool:
    """Twice the capacity, and what came of it. Whether all promises were kept."""
    options = ("--deadline", str(DEADLINE), "--queue-tokens", str(QUEUE))
    with serving(folder, *options) as (process, host, port):
        before, _ = asyncio.run(closed_loop(host, port, 1, 2.0))
        replies, memory = asyncio.run(_watched(process.pid, host, port, 2 * rate, seconds))
        after, _ = asyncio.run(closed_loop(host, port, 1, 2.0))
    counts = Counter(reply.status for reply in replies)
    late = [reply for reply in replies if reply.status in (200, 504) and reply.seconds > DEADLINE + LATE]
    silent = [reply for reply in replies if reply.status == 503 and not reply.retry]
    other = sum(count for status, count in counts.items() if status not in (200, 503, 504))
    half = memory[len(memory) // 2 :]
    growth = max(half) / half[0]
    medians = [percentile([reply.seconds for reply in found], 0.5) for found in (before, after)]
    print(f"\nTwice the capacity: {2 * rate:.0f} requests a second for {seconds:.0f} s, deadline {DEADLINE:g} s")
    told = ", ".join(f"{count:,} × {status}" for status, count in sorted(counts.items()))
    print(f"  answers: {told}; late {len(late)}, 503 without Retry-After {len(silent)}, lost {other}")
    print(f"  memory {memory[0]:.0f} MB at first, {max(memory):.0f} MB at most; second half × {growth:.2f}")
    print(f"  one client before: {medians[0]:.1f} ms, after: {medians[1]:.1f} ms")
    return not late and not silent and not other and growth < FLAT and medians[1] < 2 * medians[0] + 5


async def _watched(process: int, host: str, port: int, rate: float, seconds: float) -> tuple[list[Reply], list[float]]:
    memory: list[float] = []
    async with _task(memory_of(process, memory)):
        replies = await paced(host, port, rate, seconds)
    return replies, memory


@contextlib.asynccontextmanager
async def _task(work: Coroutine[None, None, None]) -> AsyncIterator[None]:
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def main() -> None:
    """All of it, with ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="a model folder that translates snow: nungil demo leaves one")
    parser.add_argument("--clients", default="1,8,64,256", metavar="N,N")
    parser.add_argument("--seconds", type=float, default=10.0, help="of each measurement")
    given = parser.parse_args()
    counts = [int(part) for part in given.clients.split(",")]
    print(f"{'':<34}{'req/s':>9}{'p50 ms':>10}{'p99 ms':>10}")
    together = measure_clients(given.folder, counts, given.seconds)
    compared = 64 if 64 in counts else counts[-1]
    alone = measure_clients(given.folder, [compared], given.seconds, "--batch-tokens", "1")
    ratio = together[compared] / alone[compared]
    print(f"\nBatching against one at a time, {compared} clients: × {ratio:.1f} (at least 4 is aimed at)")
    kept = flood(given.folder, max(together.values()), given.seconds)
    print(f"  {'every promise was kept' if kept else 'NOT every promise was kept'}")
    sys.exit(0 if kept else 1)


if __name__ == "__main__":
    main()
