"""Connections that misbehave, and many at once."""

import random
import socket
import threading
import time
from collections.abc import Iterator

import pytest
from helpers.frontends.web_client import (
    SECONDS,
    Served,
    eventually,
    page_events,
    player_with,
    read_all,
    serving,
)
from helpers.uniform_evaluator import UniformEvaluator

from alphazero.frontends.web import connection, security


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serving([player_with(UniformEvaluator(9))]) as running:
        yield running


def test_random_bytes_are_answered_or_hung_up_on(served):
    chance = random.Random(6)
    for _ in range(30):
        with socket.create_connection(("127.0.0.1", served.port), SECONDS) as line:
            line.sendall(chance.randbytes(200) + b"\r\n\r\n")
            line.shutdown(socket.SHUT_WR)
            try:
                reply = read_all(line)
            except ConnectionError:
                continue
            assert reply == b"" or reply.startswith(b"HTTP/1.1 4")
    assert served.ask("GET", "/api/setup")[0] == 200


def test_a_request_that_never_ends_is_hung_up_on(monkeypatch):
    monkeypatch.setattr(connection, "REQUEST_SECONDS", 0.2)
    monkeypatch.setattr(security, "BODY_SECONDS", 0.2)
    head = b"POST /api/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with serving() as running:
        for half in (b"", b"GET / HT", head, head + b"Content-Length: 9\r\n\r\n{"):
            with socket.create_connection(("127.0.0.1", running.port), SECONDS) as line:
                line.sendall(half)
                try:
                    reply = read_all(line)
                except ConnectionError:
                    reply = b""
                assert reply == b"" or reply.startswith(b"HTTP/1.1 400")
        # A stream is an answer under way, and stays.
        with running.begin("tic_tac_toe") as page:
            page.wait(lambda view: True)
            time.sleep(0.5)
            page.do("move", action=4)
            assert page.wait(lambda view: view["ply"] == 1)


def test_a_page_that_does_not_read_is_hung_up_on(monkeypatch):
    with serving(send_buffer=4096) as running, running.begin("hex:size=26") as page:
        page.do("move", action=0)
        monkeypatch.setattr(connection, "REQUEST_SECONDS", 1.0)
        line = socket.socket()
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        line.connect(("127.0.0.1", running.port))
        line.sendall(
            f"GET /api/sessions/{page.id}/events HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        )
        session = running.manager.sessions[page.id]
        eventually(lambda: len(session.watchers) == 2)
        for number in range(1000):
            page.do("goto", ply=number % 2)
            page_events(page, 1)
            if len(session.watchers) == 1:
                break
        assert len(session.watchers) == 1
        line.close()


def test_two_hundred_connections_cost_no_threads_and_leave_the_server_well():
    with serving() as running:
        assert running.ask("GET", "/api/setup")[0] == 200
        before = threading.active_count()
        lines = [socket.create_connection(("127.0.0.1", running.port), SECONDS) for _ in range(200)]
        answers = []
        for line in lines:
            try:
                line.sendall(b"GET /api/setup HTTP/1.1\r\nHost: localhost\r\n\r\n")
                answers.append(line.recv(1000)[:12])
            except ConnectionError:
                answers.append(b"")
        assert set(answers) == {b"HTTP/1.1 200", b""}
        assert answers.count(b"HTTP/1.1 200") <= connection.MAX_CONNECTIONS
        assert len(running.server.server_state.connections) <= connection.MAX_CONNECTIONS
        assert threading.active_count() <= before + 1
        for line in lines:
            line.close()
        eventually(lambda: not running.server.server_state.connections)
        assert running.ask("GET", "/api/setup")[0] == 200
