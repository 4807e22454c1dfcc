"""Who may send requests to the server, and what its answers forbid."""

import socket
from collections.abc import Iterator

import pytest
from helpers.frontends.web_client import SECONDS, Served, player_with, read_all, serving
from helpers.uniform_evaluator import UniformEvaluator

from alphazero.frontends.web import security


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serving([player_with(UniformEvaluator(9))]) as running:
        yield running


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Host": "evil.example"},
        {"Host": "evil.example:80"},
        {"Host": "127.0.0.1.evil.example"},
        {"Host": "localhost@evil.example"},
        {"Host": ""},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_requests_of_other_sites_are_refused(served: Served, headers: dict[str, str]) -> None:
    for method, path, body in (
        ("GET", "/api/setup", None),
        ("POST", "/api/sessions", {"game": "tic_tac_toe"}),
    ):
        status, reply = served.ask(method, path, body, headers)
        assert status == 403
        assert "\n" not in reply["error"]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "192.168.1.7", "LOCALHOST"])
def test_requests_of_our_own_page_are_answered(served: Served, host: str) -> None:
    own = {"Host": f"{host}:{served.port}", "Origin": f"http://{host}:{served.port}"}
    assert served.ask("GET", "/api/setup", headers=own)[0] == 200


def test_posts_must_be_json_so_that_no_form_can_send_one(served: Served) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        answer = served.ask("POST", "/api/sessions", b'{"game": "nim"}', {"Content-Type": kind})
        assert answer[0] == 400


def test_every_answer_forbids_what_the_page_does_not_need(served: Served) -> None:
    for path in ("/", "/api/setup", "/static/none.js", "/api/sessions/x", "/%00"):
        with socket.create_connection(("127.0.0.1", served.port), SECONDS) as line:
            line.sendall(
                f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()
            )
            head = read_all(line).partition(b"\r\n\r\n")[0].decode().lower()
        assert "content-security-policy: default-src 'none'" in head
        assert "x-content-type-options: nosniff" in head
        assert "access-control-allow-origin" not in head


def test_a_network_of_one_machine_is_one_client() -> None:
    assert security.client_key(("10.0.0.7", 4000)) == security.client_key(("10.0.0.7", 5000))
    assert security.client_key(("10.0.0.7", 4000)) != security.client_key(("10.0.0.8", 4000))
    # A machine has a whole /64 of IPv6 addresses to choose from.
    assert security.client_key(("2001:db8::1", 1)) == security.client_key(("2001:db8::ffff:1:2", 1))
    assert security.client_key(("2001:db8::1", 1)) != security.client_key(("2001:db8:0:1::1", 1))
    # A socket for both families writes the older addresses so.
    assert security.client_key(("::ffff:10.0.0.7", 1)) == security.client_key(("10.0.0.7", 1))
    assert security.client_key(("::ffff:10.0.0.7", 1)) != security.client_key(
        ("::ffff:10.0.0.8", 1)
    )
    assert security.client_key(("fe80::1%eth0", 1)) == security.client_key(("fe80::2%eth0", 1))
    assert security.client_key(None) == ""
