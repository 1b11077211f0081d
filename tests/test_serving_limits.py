"""What a server does when clients are many, slow, large or gone; and how it ends."""

import contextlib
import ctypes
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from command import NUNGIL, invoke
from small_server import KEY, raw, request, running, small_shelf

from nungil.serving.cost import runs_of
from nungil.serving.limits import Limits
from nungil.serving.metrics import Metrics
from nungil.serving.queue import FullError, Queue, Ticket

TEXT = "We saw a ship"
BODY = {"model": "luong", "texts": [TEXT]}


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    return small_shelf(tmp_path_factory.mktemp("models"), "luong", "labels")


@contextlib.contextmanager
def held(server):
    """While this lasts, the worker computes nothing: it is in the middle of something else."""
    begun, go_on = threading.Event(), threading.Event()

    def run(items):
        begun.set()
        go_on.wait(60)
        return items

    server.desk.queue.put(Ticket(run, [(None, 1)], time.monotonic() + 100))
    assert begun.wait(30)
    try:
        yield
    finally:
        go_on.set()


def until(condition, seconds=30.0):
    """Wait for something that another thread does."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def waiting(server, count):
    until(lambda: server.desk.queue.requests >= count)


def sample(server, name, **labels):
    return server.desk.metrics.registry.get_sample_value(name, labels) or 0.0


# The queue by itself.


def ticket(items, key="k", seconds=60.0, run=None):
    return Ticket(run or (lambda given: given), items, time.monotonic() + seconds, key)


def names(batch):
    return [piece.item for _, piece in batch.taken]


def test_a_batch_takes_texts_of_all_requests_in_turn():
    queue = Queue(Limits(batch=10, wait=0))
    many, one, other = ticket([(f"m{n}", 3) for n in range(5)]), ticket([("one", 3)]), ticket([("x", 3)], key="else")
    for each in (many, one, other):
        queue.put(each)
    assert queue.tokens == 21
    assert names(queue.take()) == ["m0", "one", "m1"]  # three of three tokens: a fourth does not fit
    assert queue.tokens == 12
    assert names(queue.take()) == ["x"]  # what is left of `many` went to the end
    assert names(queue.take()) == ["m2", "m3", "m4"]
    assert queue.tokens == 0


def test_a_text_that_is_larger_than_a_batch_is_computed_alone():
    queue = Queue(Limits(batch=10, wait=0))
    queue.put(ticket([("long", 50), ("short", 1)]))
    assert names(queue.take()) == ["long"]
    assert names(queue.take()) == ["short"]


def test_at_a_known_pace_no_batch_takes_more_than_a_part_of_the_deadline():
    queue = Queue(Limits(batch=2_000, wait=0, deadline=4.0))
    queue.put(ticket([(str(number), 50) for number in range(8)]))
    queue.pace = 100.0  # tokens in a second: a hundred in a quarter of the deadline
    assert names(queue.take()) == ["0", "1"]
    queue.pace = 1.0
    assert names(queue.take()) == ["2"]  # one in any case
    queue.pace = 1e6
    assert names(queue.take()) == ["3", "4", "5", "6", "7"]


def test_what_may_not_be_computed_with_others_is_not():
    queue = Queue(Limits(batch=10, wait=0))
    for name in ("a", "b"):
        queue.put(ticket([(name, 1)], key=None))
    assert names(queue.take()) == ["a"]
    assert names(queue.take()) == ["b"]


def test_a_queue_takes_so_many_tokens_and_no_more():
    queue = Queue(Limits(waiting=10, wait=0))
    first = ticket([("a", 7)])
    queue.put(first)
    with pytest.raises(FullError):
        queue.put(ticket([("b", 4)]))
    queue.put(ticket([("b", 3)]))
    queue.drop(first)
    assert queue.tokens == 3
    queue.put(ticket([("c", 7)]))
    queue.close()
    with pytest.raises(FullError):
        queue.put(ticket([("d", 1)]))
    assert names(queue.take()) == ["b", "c"]
    assert queue.take() is None


def test_work_that_is_too_late_is_not_begun():
    queue = Queue(Limits(wait=0))
    queue.put(ticket([("late", 1)], seconds=-1))
    queue.put(ticket([("early", 1)]))
    assert names(queue.take()) == ["early"]
    assert queue.tokens == 0


def test_a_first_text_waits_a_moment_for_others():
    queue = Queue(Limits().model_copy(update={"wait": 20.0, "batch": 10}))  # longer than any machine stands still
    queue.put(ticket([("a", 4)]))
    with ThreadPoolExecutor(1) as pool:
        taken = pool.submit(queue.take)
        queue.put(ticket([("b", 4)]))
        queue.put(ticket([("c", 4)]))  # now there is a batch full of them
        assert names(taken.result(30)) == ["a", "b"]


def test_a_request_that_fails_spoils_no_other():
    def run(items):
        if "bad" in items:
            raise ValueError("bad")
        return [item.upper() for item in items]

    queue = Queue(Limits(wait=0))
    good, bad = ticket([("good", 1)], run=run), ticket([("bad", 1)], run=run)
    queue.put(good)
    queue.put(bad)
    queue.take().answer()
    assert good.answers == {0: "GOOD"}
    assert good.error is None
    assert isinstance(bad.error, ValueError)


# Limits of requests.


def test_limits_are_on_by_default(shelf):
    with running(shelf) as server:
        cases = [
            ({"texts": ["a"] * 129}, "texts: 129 texts; this server takes 128 at most"),
            ({"texts": ["a", "a" * 10_001]}, "texts[1]: 10,001 characters; this server takes 10,000 at most"),
            ({"texts": ["a"], "longest": 1_001}, "longest: 1,001 tokens; this server takes 1,000 at most"),
            ({"texts": ["a"], "beam": 99}, "beam: 99 beginnings; this server takes 16 at most"),
            ({"texts": ["a"], "sample": True, "n_best": 99}, "n_best: 99 translations; this server takes 16 at most"),
            ({"texts": ["a"], "shortest": 1_001}, "shortest: 1,001 tokens; this server takes 1,000 at most"),
        ]
        for body, message in cases:
            found = server.post("/v1/translate", body)
            assert found.status_code == 422
            assert found.json()["error"]["message"] == message
        found = server.post("/v1/look", {"text": "snow " * 513})
        assert found.json()["error"]["message"] == "text: 513 tokens; this server takes 512 at most"
        found = server.post("/v1/explain", {"text": TEXT, "target": "눈이 " * 513})
        assert found.json()["error"]["message"] == "target: 513 tokens; this server takes 512 at most"
        changes = [{"do": "flatten", "step": 1}] * 65
        found = server.post("/v1/intervene", {"text": TEXT, "changes": changes})
        assert found.json()["error"]["message"] == "changes: 65 changes; this server takes 64 at most"
        longer = [{"do": "insert", "word": "ship", "new": "snow " * 200}] * 3
        found = server.post("/v1/intervene", {"text": TEXT, "edits": longer})
        assert found.json()["error"]["message"].startswith(
            "edits: 604 tokens with what they put in; this server takes 512"
        )


MORE = {"given": 9, "most": 7}


@pytest.mark.parametrize(
    ("path", "body", "limits", "status", "code", "facts"),
    [
        (
            "look",
            {"text": TEXT},
            {"looked": 3},
            422,
            "too_much",
            {"where": "text", "given": 4, "most": 3, "unit": "tokens"},
        ),
        (
            "translate",
            {"texts": ["a", "abcd"]},
            {"characters": 3},
            422,
            "too_much",
            {"where": "texts[1]", "given": 4, "most": 3, "unit": "characters"},
        ),
        ("translate", {"texts": [TEXT]}, {"waiting": 3}, 413, "too_much", {"given": 4, "most": 3, "unit": "tokens"}),
        *(
            ("translate", {"texts": [TEXT], **body}, limits, 422, "too_much", {"where": where, "unit": unit, **MORE})
            for where, unit, body, limits in [
                ("beam", "beginnings", {"beam": 9}, {"beam": 7}),
                ("n_best", "translations", {"n_best": 9, "sample": True}, {"beam": 7}),
                ("longest", "tokens", {"longest": 9}, {"longest": 7}),
                ("shortest", "tokens", {"shortest": 9}, {"longest": 7}),
            ]
        ),
        *(
            (
                *("intervene", {"text": TEXT, where: [one] * 9}, {"changes": 7}, 422, "too_much"),
                {"where": where, "unit": where, **MORE},
            )
            for where, one in [
                ("changes", {"do": "flatten", "step": 1}),
                ("edits", {"do": "delete", "word": "snow"}),
            ]
        ),
        ("look", {"text": TEXT, "honesty": "full"}, {"products": 1e6}, 422, "costly", {"tokens": 6}),
        ("explain", {"text": TEXT}, {"numbers": 100}, 422, "too_much", {"unit": "numbers", "most": 100}),
        ("look", {"text": "\u200b"}, {}, 422, "empty", {}),
        ("look", {"text": ""}, {}, 422, "empty", {}),
        ("classify", {"texts": [" "]}, {}, 422, "empty", {}),
        ("intervene", {"text": "snow", "edits": [{"do": "delete", "word": "snow"}]}, {}, 422, "empty", {}),
        ("look", {"txt": TEXT}, {}, 422, "invalid", {}),
        ("look", {"text": TEXT, "layer": 9}, {}, 422, "invalid", {}),
        ("look", {"text": TEXT, "model": "none"}, {}, 404, "unknown", {}),
        ("nothing", {}, {}, 404, "unknown", {}),
        ("translate", {"texts": ["a" * 2_000]}, {"body": 1_000}, 413, "too_large", {"most": 1_000}),
    ],
)
def test_a_refusal_has_a_code_and_facts_for_programs(shelf, path, body, limits, status, code, facts):
    with running(shelf, **limits) as server:
        error = server.post(f"/v1/{path}", body).json()["error"]
        assert (error["status"], error["code"]) == (status, code)
        assert error["facts"].items() >= facts.items()
        assert bool(error["facts"]) == bool(facts)
        if code == "too_much":
            assert [one["where"] for one in error["mistakes"]] == [error["facts"]["where"]]


def test_a_look_that_would_take_too_long_is_refused_before_it_is_begun(shelf):
    with running(shelf, products=1e6) as server:
        found = server.post("/v1/look", {"text": TEXT, "lens": "integrated-gradients"})
        assert found.status_code == 422
        assert "takes too long to be served" in found.json()["error"]["message"]
        found = server.post("/v1/look", {"text": TEXT, "honesty": "full"})
        assert found.json()["error"]["message"].startswith("every figure of honesty of a text of 6 tokens")
        assert server.post("/v1/look", {"text": TEXT}).status_code == 200


def test_what_an_edit_makes_of_a_text_is_counted_too(shelf):
    """A text of one word takes little; what is put into it may not."""
    edits = [{"do": "insert", "word": "ship", "new": "snow " * 50}]
    served = shelf.find("luong")
    example = served.model.example("ship")
    source, written = len(example.source), example.steps
    products = runs_of("leave-one-out", source, written) * (source + written) * served.description["parameters"]
    with running(shelf, products=3 * products) as server:
        assert server.post("/v1/look", {"text": "ship", "lens": "leave-one-out"}).status_code == 200
        found = server.post("/v1/intervene", {"text": "ship", "edits": edits, "lens": "leave-one-out"})
        assert found.status_code == 422
        assert "takes too long to be served" in found.json()["error"]["message"]


def test_a_prefix_has_the_limits_of_a_text(shelf):
    with running(shelf, characters=20) as server:
        found = server.post("/v1/translate", {"texts": [TEXT], "prefix": "눈이 " * 9})
        assert found.json()["error"]["message"] == "prefix: 27 characters; this server takes 20 at most"


def test_an_explanation_has_no_more_numbers_than_an_answer_may_hold(shelf):
    with running(shelf, numbers=100) as server:
        found = server.post("/v1/explain", {"text": TEXT})
        assert found.status_code == 422
        message = r"text: [\d,]+ numbers to explain it, fewer of a shorter one; this server takes 100 at most"
        assert re.fullmatch(message, found.json()["error"]["message"])


def test_more_texts_than_the_queue_ever_takes(shelf):
    with running(shelf, waiting=5) as server:
        found = server.post("/v1/translate", {"texts": ["snow fell"] * 3})
        assert found.status_code == 413
        assert found.json()["error"]["message"] == "the body: 6 tokens to read at once; this server takes 5 at most"


def test_a_body_that_is_too_large_is_refused_by_its_length_alone(shelf):
    with running(shelf) as server:
        connection = server.connect()
        connection.sendall(b"POST /v1/translate HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99999999999\r\n\r\n")
        status, headers, body = raw(connection)
        assert status == 413
        assert headers["connection"] == "close"
        assert json.loads(body)["error"]["message"] == "the request is larger than the 1,000,000 bytes that are taken"


def test_a_large_body_is_refused_while_it_comes_and_the_client_hears_of_it(shelf):
    with running(shelf) as server:
        content = b'{"texts": ["' + b"a" * 5_000_000 + b'"]}'
        assert server.client.post("/v1/translate", content=content).status_code == 413

        def chunks():
            for _ in range(50):
                yield b"a" * 100_000

        assert server.client.post("/v1/translate", content=chunks()).status_code == 413
        assert server.post("/v1/translate", BODY).status_code == 200


def test_a_flood_of_chunks_is_cut_off(shelf):
    with running(shelf, body=10_000) as server:
        connection = server.connect()
        connection.sendall(b"POST /v1/translate HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n")
        sent = 0
        with pytest.raises(OSError):  # reset, or a broken pipe
            while sent < 100_000_000:
                sent += connection.send(b"1000\r\n" + b"a" * 4096 + b"\r\n")
        assert sent < 20_000_000  # what is in the buffers of both ends, and what was listened to
        assert server.post("/v1/translate", BODY).status_code == 200


# Slow clients.


def test_slow_headers_are_not_waited_for(shelf):
    with running(shelf, sending=0.3) as server:
        connection = server.connect()
        connection.sendall(b"GET /livez HTTP/1.1\r\n")
        assert connection.recv(100) == b""  # closed, not answered
        idle = server.connect()
        assert idle.recv(100) == b""


def test_headers_that_trickle_are_not_waited_for_either(shelf):
    with running(shelf, sending=0.3) as server:
        connection = server.connect()
        with pytest.raises(OSError):
            while True:  # each byte comes in time, all of them never
                connection.sendall(b"G")
                connection.settimeout(0.02)
                with contextlib.suppress(TimeoutError):
                    if connection.recv(1) == b"":
                        raise ConnectionResetError


def test_headers_of_a_second_request_are_not_waited_for(shelf):
    with running(shelf, sending=0.3, idle=60) as server:
        connection = server.connect()
        connection.sendall(request("GET", "/livez"))
        assert raw(connection)[0] == 200
        connection.sendall(b"GET /livez HT")
        assert connection.recv(100) == b""


def test_a_slow_body_is_told_that_it_was_too_slow(shelf):
    with running(shelf, sending=0.3) as server:
        connection = server.connect()
        connection.sendall(b"POST /v1/translate HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{")
        status, headers, body = raw(connection)
        assert status == 408
        assert headers["connection"] == "close"
        assert json.loads(body)["error"]["message"] == "the request was not sent whole within 0.3 seconds"


def test_a_client_that_does_not_read_is_let_go(shelf):
    with running(shelf, sending=0.5, idle=0.5) as server:
        connection = server.connect()
        with contextlib.suppress(OSError):
            for _ in range(400):  # answers of some 40 kB each, none of which is read
                connection.sendall(request("GET", "/openapi.json"))
        until(lambda: not server.server.server_state.connections)
        assert server.get("/livez").status_code == 200, "the others are still answered"


def test_a_client_that_stays_does_not_wait_for_the_network_to_fill_a_packet(shelf):
    with running(shelf) as server:
        assert server.get("/livez").status_code == 200  # and httpx keeps the connection
        (kept,) = server.server.server_state.connections
        assert kept.transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_too_many_clients_are_turned_away_with_a_word(shelf):
    with running(shelf, connections=3) as server:
        others = [server.connect() for _ in range(3)]
        until(lambda: len(server.server.server_state.connections) == 3)
        status, headers, body = raw(server.connect())
        assert (status, headers["retry-after"]) == (503, "1")
        assert json.loads(body)["error"]["message"] == "too many clients are connected; come again later"
        assert json.loads(body)["error"]["code"] == "crowded"
        for other in others:
            other.close()
        until(lambda: not server.server.server_state.connections)
        assert server.get("/livez").status_code == 200


# Load.


def test_a_full_queue_says_when_to_come_again(shelf):
    with running(shelf, waiting=10) as server, ThreadPoolExecutor(2) as pool, held(server):
        first = pool.submit(server.post, "/v1/translate", {"texts": ["snow fell"] * 4})
        waiting(server, 1)
        assert server.desk.queue.tokens == 8
        turned_away = server.post("/v1/translate", {"texts": ["snow fell"] * 2})
        assert turned_away.status_code == 503
        assert 1 <= int(turned_away.headers["retry-after"]) <= 60
        assert server.get("/readyz").status_code == 200
        second = pool.submit(server.post, "/v1/translate", {"texts": ["snow fell"]})
        waiting(server, 2)
        ready = server.get("/readyz")
        assert (ready.status_code, ready.json()["why"]) == (503, "too much waits")
        assert server.get("/livez").status_code == 200
        assert sample(server, "nungil_dropped_total", why="full") == 1
    assert [first.result().status_code, second.result().status_code] == [200, 200]


def test_what_could_not_be_answered_in_time_is_turned_away_at_once(shelf):
    with running(shelf, deadline=30.0) as server, ThreadPoolExecutor(1) as pool, held(server):
        first = pool.submit(server.post, "/v1/translate", {"texts": ["snow fell"] * 50})
        waiting(server, 1)
        server.desk.metrics.rate = 2.0  # tokens in a second: the hundred that wait take 50 seconds
        found = server.post("/v1/translate", BODY)
        assert (found.status_code, found.headers["retry-after"]) == (503, "51")  # and the one that is held
        server.desk.metrics.rate = 1_000.0
        second = pool.submit(server.post, "/v1/translate", BODY)
        waiting(server, 1)
    assert [first.result().status_code, second.result().status_code] == [200, 200]


def test_a_server_that_was_once_slow_does_not_seem_so_for_ever():
    metrics = Metrics()
    metrics.computed(1, 10, 0.1, crowded=False)
    assert metrics.rate == 0  # one text by itself tells nothing
    metrics.computed(1, 10, 100.0, crowded=True)  # the machine was asleep
    assert metrics.rate == pytest.approx(0.1)
    metrics.computed(1, 10, 0.1, crowded=False)
    assert metrics.rate == pytest.approx(0.1 + 0.2 * 99.9)


def test_a_deadline_is_kept_and_the_work_is_never_begun(shelf):
    with running(shelf, deadline=0.3) as server:
        with held(server):
            began = time.monotonic()
            late = server.post("/v1/translate", BODY)
            took = time.monotonic() - began
            assert late.status_code == 504
            assert late.json()["error"]["message"] == ("there was no answer within 0.3 seconds; the work was dropped")
            assert (late.json()["error"]["code"], late.json()["error"]["facts"]) == ("deadline", {"seconds": 0.3})
            assert took >= 0.3
            assert server.desk.queue.tokens == 0
        assert sample(server, "nungil_dropped_total", why="deadline") == 1
        until(lambda: sample(server, "nungil_batch_texts_count") == 1)  # what was held, and nothing else


def test_the_work_of_a_client_that_left_is_dropped(shelf):
    with running(shelf) as server, held(server):
        connection = server.connect()
        connection.sendall(request("POST", "/v1/translate", BODY))
        waiting(server, 1)
        connection.close()
        until(lambda: server.desk.queue.requests == 0)
        assert server.desk.queue.tokens == 0
        until(lambda: sample(server, "nungil_dropped_total", why="client") == 1)


def kill(thread):
    """End a thread from outside, as nothing but a fault of the interpreter could."""
    done = ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit))
    assert done == 1


def test_a_worker_that_dies_is_replaced_and_whoever_waited_for_it_is_told(shelf):
    with running(shelf) as server, ThreadPoolExecutor(4) as pool:
        dying = threading.Event()

        def run(_):
            dying.set()
            while True:
                time.sleep(0.001)

        own = pool.submit(_ask, server, run)
        assert dying.wait(30)
        other = pool.submit(server.post, "/v1/translate", BODY)
        waiting(server, 1)
        kill(server.desk.worker.thread)
        died = own.result(30)
        assert (died.status, str(died)) == (
            500,
            "the worker died while it worked on this; it was replaced, and you may ask again",
        )
        assert other.result(30).status_code == 200
        assert server.get("/readyz").status_code == 200
        assert sample(server, "nungil_worker_restarts_total") == 1
        assert server.desk.queue.tokens == 0


def _ask(server, run):
    """A ticket of our own among those of clients; what its client would be told."""
    from nungil.serving.desk import _refusal

    told = threading.Event()
    ticket = Ticket(run, [(None, 1)], time.monotonic() + 60, None)
    ticket.settled = told.set
    server.desk.queue.put(ticket)
    assert told.wait(30)
    return _refusal(ticket.error)


def test_while_models_are_loaded_the_server_lives_but_is_not_ready():
    with running(None) as server:
        assert server.get("/livez").status_code == 200
        found = server.get("/readyz")
        assert (found.status_code, found.json()["why"], found.headers["retry-after"]) == (503, "loading", "1")
        for found in (server.get("/v1/models"), server.post("/v1/translate", BODY)):
            assert (found.status_code, found.headers["retry-after"]) == (503, "1")
            assert found.json()["error"]["message"] == "the models are being loaded; come again in a moment"
            assert found.json()["error"]["code"] == "loading"
        assert server.get("/languages").json() == {"error": "the models are being loaded; come again in a moment"}


def test_a_server_that_ends_is_not_ready(shelf):
    with running(shelf) as server:
        server.desk.draining = True
        assert server.get("/readyz").json()["why"] == "draining"


def test_while_a_worker_is_replaced_the_server_is_not_ready(shelf, monkeypatch):
    with running(shelf) as server:
        monkeypatch.setattr(type(server.desk.worker), "alive", False)
        found = server.get("/readyz")
        assert (found.status_code, found.json()["why"]) == (503, "the worker is being replaced")


def test_a_bug_of_ours_says_nothing_of_itself(shelf, monkeypatch, caplog):
    def broken(*_, **__):
        raise RuntimeError(f"{TEXT} /etc/passwd")

    monkeypatch.setattr("nungil.serving.handlers.look", broken)
    with running(shelf) as server:
        found = server.post("/v1/look", {"text": TEXT})
    assert found.status_code == 500
    assert found.json()["error"]["message"] == "this is a bug of ours; the server's log says where"
    assert "RuntimeError at test_serving_limits.py" in caplog.text
    assert "ship" not in caplog.text + found.text
    assert "passwd" not in caplog.text + found.text


def test_a_bug_beside_the_worker_has_the_same_form(shelf, monkeypatch, caplog):
    def broken(*_):
        raise RuntimeError("/etc/passwd has no ship")

    monkeypatch.setattr("nungil.serving.handlers.check_texts", broken)
    with running(shelf) as server:
        found = server.post("/v1/translate", BODY)
    assert found.status_code == 500
    assert found.json()["error"]["message"] == "this is a bug of ours; the server's log says where"
    assert "RuntimeError at test_serving_limits.py" in caplog.text
    assert "passwd" not in caplog.text + found.text


# Who may ask.


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "localhost.", "[::1", "a:b:c"])
def test_a_host_that_is_not_ours_is_refused(shelf, host):
    with running(shelf) as server:
        connection = server.connect()
        connection.sendall(request("GET", "/v1/models", host=host))
        assert raw(connection)[0] == 421


@pytest.mark.parametrize("host", ["127.0.0.1:9", "localhost", "LOCALHOST:80", "[::1]:80", "10.1.2.3", "snow.example:8"])
def test_a_host_that_is_ours_is_not(shelf, host):
    with running(shelf, names=["Snow.example"]) as server:
        connection = server.connect()
        connection.sendall(request("GET", "/livez", host=host))
        assert raw(connection)[0] == 200


def test_pages_of_other_sites_may_not_ask(shelf):
    with running(shelf) as server:
        own = f"http://127.0.0.1:{server.address.port}"
        assert server.post("/v1/translate", BODY, headers={"Origin": own}).status_code == 200
        for origin in ("http://evil.example", "null", "http://127.0.0.1:1", "http://["):
            found = server.post("/v1/translate", BODY, headers={"Origin": origin})
            assert found.status_code == 403
        before = server.client.options("/v1/translate", headers={"Origin": own})
        assert "access-control-allow-origin" not in before.headers


def test_proxy_headers_are_ignored(shelf):
    with running(shelf) as server:
        headers = {"X-Forwarded-Host": "evil.example", "X-Forwarded-For": "1.2.3.4", "Forwarded": "host=evil.example"}
        assert server.get("/v1/models", headers=headers).status_code == 200


# The command.


@contextlib.contextmanager
def command(*arguments):
    """`nungil serve` as a process of its own; where it serves."""
    process = subprocess.Popen(
        [*NUNGIL, "serve", *map(str, arguments), "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        first = process.stdout.readline()
        assert first.startswith("nungil is serving at http://127.0.0.1:"), process.stderr.read()
        yield process, first.split()[-1]
    finally:
        process.kill()
        process.communicate()


@pytest.mark.slow
def test_sigterm_under_load_loses_nothing(shelf):
    """Every request that was taken is answered, whole; the process ends by itself, with 0."""
    folder = shelf.find("luong").folder
    with command(folder) as (process, url):
        answers, stopped, lock = [], threading.Event(), threading.Lock()

        def client():
            with httpx.Client(base_url=url, timeout=60) as own:
                while not stopped.is_set():
                    try:
                        found = own.post("/v1/translate", json={"texts": [TEXT] * 3})
                    except (httpx.ConnectError, httpx.RemoteProtocolError, httpx.ReadError) as error:
                        with lock:
                            answers.append(error)
                        return
                    with lock:
                        answers.append(found)

        threads = [threading.Thread(target=client) for _ in range(8)]
        for thread in threads:
            thread.start()
        until(lambda: len(answers) >= 24, 60)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        stopped.set()
        for thread in threads:
            thread.join(60)
        found = [one for one in answers if isinstance(one, httpx.Response)]
        assert all(one.status_code in (200, 503) and one.json() for one in found)
        assert sum(one.status_code == 200 for one in found) >= 24
        told = process.stderr.read()
        assert "Stopped; all accepted requests were answered." in told
        assert "Traceback" not in told
        assert "ship" not in told


def accepts_nobody(url):
    try:
        return httpx.get(f"{url}/readyz").status_code == 503
    except httpx.TransportError:
        return True


@pytest.mark.slow
def test_a_second_signal_ends_it_at_once(shelf):
    """What it is in the middle of would take long; whoever waits for that is left, and it says so."""
    folder = shelf.find("luong").folder
    long = {"texts": [TEXT] * 100, "beam": 16, "longest": 1000, "shortest": 999}
    with command(folder, "--batch-tokens", "1") as (process, url):

        def client():
            with contextlib.suppress(httpx.TransportError):
                httpx.post(f"{url}/v1/translate", json=long, timeout=60)

        thread = threading.Thread(target=client)
        thread.start()
        until(lambda: "nungil_queue_requests 1.0" in httpx.get(f"{url}/metrics").text, 60)
        process.send_signal(signal.SIGTERM)
        until(lambda: accepts_nobody(url), 10)
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
        thread.join(60)
        assert "Stopped; some requests were not answered." in process.stderr.read()


@pytest.mark.slow
def test_a_port_that_is_taken_and_an_address_that_others_reach(shelf, tmp_path):
    folder = str(shelf.find("luong").folder)
    with running(shelf) as server:
        found = invoke("serve", folder, "--port", str(server.address.port))
        assert found.returncode == 2
        assert found.stderr == (
            f"nungil: 127.0.0.1:{server.address.port}: Address already in use; another port: --port 0 takes any that "
            "is free\n"
        )
    nowhere = invoke("serve", folder, "--host", "no such host", "--port", "0", "--insecure")
    assert (nowhere.returncode, nowhere.stderr) == (2, "nungil: no such host:0: there is no such address\n")
    found = invoke("serve", folder, "--host", "0.0.0.0")
    assert found.returncode == 2
    assert found.stderr == (
        "nungil: --host 0.0.0.0: others could ask there too; give them keys (--key-file FILE), "
        "or say that anybody may ask (--insecure)\n"
    )
    keys = tmp_path / "keys"
    keys.write_text("# nothing\n\n")
    found = invoke("serve", folder, "--key-file", str(keys))
    assert found.stderr == f"nungil: {keys}: there is no key in it; write one on a line, 16 characters or more\n"
    keys.write_text("short\n")
    found = invoke("serve", folder, "--key-file", str(keys))
    assert found.stderr == f"nungil: {keys}: key 1 is short enough to be guessed; use 16 characters or more\n"
    found = invoke("serve", str(tmp_path / "nothing"), "--port", "0")
    assert found.returncode == 2
    assert "there is no such folder" in found.stderr


@pytest.mark.slow
def test_a_model_that_cannot_be_read_ends_the_command(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    found = invoke("serve", str(tmp_path), "--port", "0")
    assert found.returncode == 4
    assert found.stdout == ""
    assert "not a nungil model folder" in found.stderr


@pytest.mark.slow
def test_keys_of_a_file_and_any_address(shelf, tmp_path):
    keys = tmp_path / "keys"
    keys.write_text(f"# of the translators\n{KEY}\n")
    with command(shelf.find("luong").folder, "--key-file", keys, "--host", "0.0.0.0") as (process, url):
        assert httpx.get(f"{url}/v1/models").status_code == 401
        found = httpx.get(f"{url}/v1/models", headers={"Authorization": f"Bearer {KEY}"})
        assert found.status_code == 200
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(60) == 0
        assert KEY not in process.stderr.read()


def test_without_its_extra_the_command_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "fastapi", None)
    found = invoke("serve", str(tmp_path))
    assert found.returncode == 2
    assert found.stderr == "nungil: serving needs fastapi, which is not installed; pip install 'nungil[serve]'\n"
