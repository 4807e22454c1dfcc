"""Who may send requests to the server, what its answers forbid, and connections that misbehave."""

import random
import socket
import threading
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from helpers.frontends.web_client import PERSON, SECONDS, Served, serving
from helpers.processes import until

from alphazero.frontends.web import security, server
from alphazero.frontends.web.catalog import Catalog

TOKEN = "a-token"
TOKEN_NEEDED = ("/", "/static/main.js", "/api/setup", "/api/sessions/{id}/events", "/none")
"""The page, its files, the API and a stream."""


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serving() as running:
        yield running


OTHERS = {
    "Origin": ("http://evil.example", "null", "http://127.0.0.1:1"),
    "Host": ("evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost@evil.ex", ""),
    "Sec-Fetch-Site": ("cross-site", "same-site"),
}


@pytest.mark.parametrize(
    "headers", [{name: value} for name, values in OTHERS.items() for value in values]
)
def test_requests_of_other_sites_are_refused(served, headers: dict[str, str]):
    for method, path, body in (
        ("GET", "/api/setup", None),
        ("POST", "/api/sessions", {"game": "tic_tac_toe"}),
    ):
        status, reply = served.ask(method, path, body, headers)
        assert status == 403
        assert "\n" not in reply["error"]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "192.168.1.7", "LOCALHOST"])
def test_requests_of_our_own_page_are_answered(served, host: str):
    own = {"Host": f"{host}:{served.port}", "Origin": f"http://{host}:{served.port}"}
    assert served.ask("GET", "/api/setup", headers=own)[0] == 200


def test_posts_must_be_json_so_that_no_form_can_send_one(served):
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        answer = served.ask("POST", "/api/sessions", b'{"game": "nim"}', {"Content-Type": kind})
        assert answer[0] == 400


def test_every_answer_forbids_what_the_page_does_not_need(served):
    for path in ("/", "/api/setup", "/static/none.js", "/api/sessions/x", "/%00"):
        with served.open("GET", path) as answer:
            assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'")
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            assert "Access-Control-Allow-Origin" not in answer.headers


def test_without_the_token_nothing_is_answered():
    with serving(token=TOKEN) as running:
        body = {"game": "nim", "sides": [PERSON, PERSON]}
        status, view = running.ask("POST", f"/api/sessions?token={TOKEN}", body)
        assert status == 200
        cookie = f"alphazero-token-{running.port}"
        wrong = (f"{TOKEN}x", TOKEN[:-1], TOKEN.upper(), "", "\xe9")
        cookies = ["a=b", *(f"{cookie}={token}" for token in wrong)]
        for path in (template.format(id=view["id"]) for template in TOKEN_NEEDED):
            answers = [running.ask("GET", path, headers={"Cookie": text}) for text in cookies]
            answers += [running.ask("GET", address) for address in (path, f"{path}?token=x")]
            for status, reply in answers:
                assert status == 403
                assert "token" in reply["error"]
                assert TOKEN not in reply["error"]
        assert running.ask("POST", "/api/sessions", body)[0] == 403
        assert running.ask("POST", f"/api/sessions/{view['id']}/undo", {})[0] == 403
        assert not running.manager.sessions[view["id"]].watchers


def test_the_token_of_the_address_is_kept_in_a_cookie():
    with serving(token=TOKEN) as running:
        cookie = f"alphazero-token-{running.port}={TOKEN}"
        with running.open("GET", f"/?token={TOKEN}") as answer:
            assert answer.headers["Set-Cookie"] == f"{cookie}; Path=/; HttpOnly; SameSite=Lax"
            assert b"<html" in answer.read()
        own = {"Cookie": cookie}
        with running.open("GET", "/", headers=own) as answer:
            assert "Set-Cookie" not in answer.headers
            assert b"<html" in answer.read()
        assert running.ask("GET", "/api/setup", headers=own)[0] == 200
        game = {"game": "nim", "sides": [PERSON, PERSON]}
        _, view = running.ask("POST", "/api/sessions", game, own)
        with running.open("GET", f"/api/sessions/{view['id']}/events", headers=own) as answer:
            assert answer.readline() == b"event: view\n"
        # A link on another site opens the page, but no request of that site reaches the API.
        other = {**own, "Sec-Fetch-Site": "cross-site"}
        assert running.ask("GET", "/", headers=other)[0] == 200
        for headers in (other, {**own, "Origin": "http://evil.example"}):
            assert running.ask("GET", "/api/setup", headers=headers)[0] == 403
            assert running.ask("POST", "/api/sessions", game, headers)[0] == 403


@pytest.mark.parametrize(("host", "asks"), [("127.0.0.1", False), ("0.0.0.0", True)])
def test_other_machines_need_the_token_that_is_printed(monkeypatch, host: str, asks: bool):
    tokens, lines = [], list[str]()

    def make(app: object, host: str, token: str) -> SimpleNamespace:
        tokens.append(token)
        return SimpleNamespace(run=lambda sockets: sockets[0].close())

    monkeypatch.setattr(server, "make_server", make)
    for _ in range(2):
        server.serve(Catalog(), host, 0, say=lines.append)
    assert ("?token=" in lines[1]) is asks
    assert all((token in lines[index]) for token, index in zip(tokens, (1, -2), strict=True))
    assert (len(set(tokens)) == 2 and min(map(len, tokens)) >= 32) is asks


def test_a_name_that_listens_to_everybody_still_knows_its_visitors():
    middleware = security.SecurityMiddleware(lambda *_: None, "my-box.local")  # type: ignore[arg-type]
    assert middleware._is_own_host("my-box.local:8000")
    assert middleware._is_own_host("10.0.0.7:8000")
    assert not middleware._is_own_host("my-box.local.evil.example:8000")


def test_random_bytes_are_answered_or_hung_up_on(served):
    chance = random.Random(6)
    for _ in range(30):
        with socket.create_connection(("127.0.0.1", served.port), SECONDS) as line:
            line.sendall(chance.randbytes(200) + b"\r\n\r\n")
            line.shutdown(socket.SHUT_WR)
            try:
                reply = line.makefile("rb").read()
            except ConnectionError:
                continue
            assert reply == b"" or reply.startswith(b"HTTP/1.1 4")
    assert served.ask("GET", "/api/setup")[0] == 200


def test_a_body_that_never_ends_is_hung_up_on(served, monkeypatch):
    monkeypatch.setattr(security, "BODY_SECONDS", 0.2)
    head = b"POST /api/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with socket.create_connection(("127.0.0.1", served.port), SECONDS) as line:
        line.sendall(head + b"Content-Length: 9\r\n\r\n{")
        assert line.recv(1000).startswith(b"HTTP/1.1 400")


def test_two_hundred_connections_cost_no_threads_and_leave_the_server_well():
    with serving() as running:
        assert running.ask("GET", "/api/setup")[0] == 200
        before = threading.active_count()
        lines = [socket.create_connection(("127.0.0.1", running.port), SECONDS) for _ in range(200)]
        answers = []
        for line in lines:
            line.sendall(b"GET /api/setup HTTP/1.1\r\nHost: localhost\r\n\r\n")
            answers.append(line.recv(1000)[:12])
        assert set(answers) == {b"HTTP/1.1 200"}
        assert threading.active_count() <= before + 1
        for line in lines:
            line.close()
        until(lambda: not running.server.server_state.connections)
        assert running.ask("GET", "/api/setup")[0] == 200
