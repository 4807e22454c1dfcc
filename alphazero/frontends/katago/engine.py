"""KataGo's analysis engine: a JSON query on each line of the input, responses as they are found.

    {"id":"a","moves":[["B","D4"]],"boardXSize":9,"boardYSize":9,"maxVisits":100}
    {"id":"a","isDuringSearch":false,"moveInfos":[...],"rootInfo":{...},"turnNumber":1}

KataGo, docs/Analysis_Engine.md. Several positions are searched at once, and share the network's
batches. Queries and responses have GTP's coordinates, in every game.
"""

import functools
import json
import math
import queue
import sys
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Final

import numpy as np

from alphazero.errors import AlphaZeroError, PlayerError, did_you_mean
from alphazero.frontends.game_tree import SearchResult
from alphazero.frontends.katago import report
from alphazero.frontends.katago.query import QueriedPosition, Query, QueryReader
from alphazero.frontends.katago.query_fields import QueryError, QueryFields
from alphazero.frontends.line_reader import LONGEST, lines_of
from alphazero.frontends.search_pool import (
    SLOTS,
    SearchPool,
    SearchProgress,
    SearchRequest,
    SearchResponse,
)
from alphazero.games.game import ONGOING, Game, State, to_play, value_of
from alphazero.players.end_prediction import predict_end
from alphazero.players.options import CheckpointOptions
from alphazero.players.registry import PlayerSpec
from alphazero.utils.checked_json import parse_object

MAX_POOLS: Final = 8
"""Number of boards or rules whose searches are kept ready."""

READ_AHEAD: Final = 256
"""Lines read before they are answered."""

SHUTDOWN_SECONDS: Final = 2.0
"""Seconds to wait for a pool's thread; as a daemon thread it ends with the program."""

READY: Final = "Started, ready to begin handling requests"
"""KataGo's words on stderr, for which programs wait."""


def serve(spec: PlayerSpec, game: Game, perspective: str, waits: bool = True) -> None:
    """Answer the queries of standard input; at its end finish the open ones if it `waits`.

    Raises:
        PlayerError: when the player does not search a tree.
    """
    say = functools.partial(print, end="", flush=True)
    engine = AnalysisEngine(spec, game, say, perspective)
    print(READY, file=sys.stderr, flush=True)
    engine.run(lines_of(0), waits)


@dataclass(eq=False)
class _Analysis:
    """A position under analysis."""

    query: Query
    position: QueriedPosition
    pool: SearchPool
    request: SearchRequest


class AnalysisEngine:
    """Answers queries for one player; only `run`'s thread changes it."""

    def __init__(
        self, spec: PlayerSpec, game: Game, say: Callable[[str], object], perspective: str
    ) -> None:
        if not spec.options.has_search:
            raise PlayerError(f"{spec.name} cannot analyze: it does not search a tree")
        self.say = say
        self._reader = QueryReader(spec, game, perspective)
        self._events: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._pools: dict[Game, SearchPool] = {}
        self._jobs: list[_Analysis] = []
        self._has_ended = False

    def run(self, lines: Iterable[str], waits: bool = True) -> None:
        """Answer `lines`; after the last one, finish the open queries if it `waits`."""
        capacity = threading.Semaphore(READ_AHEAD)

        def take(line: str) -> None:
            capacity.release()
            self.take(line)

        def end() -> None:
            self._has_ended = True

        def read() -> None:
            try:
                for line in lines:
                    capacity.acquire()
                    self._events.put(functools.partial(take, line))
            finally:
                self._events.put(end)

        threading.Thread(target=read, daemon=True).start()
        try:
            while not self._has_ended or (waits and self._jobs):
                self._events.get()()
        finally:
            for pool in self._pools.values():
                pool.close()
            for pool in self._pools.values():
                pool.join(SHUTDOWN_SECONDS)

    def take(self, line: str) -> None:
        """Begin to answer a line."""
        text = line.strip()
        if not text:
            return
        query_id = ""
        try:
            fields = _read_object(text)
            if not isinstance(fields.get("id"), str):
                raise QueryError('Request must have a string "id" field')
            query_id = fields["id"]
            if "action" in fields:
                self._act(fields)
            else:
                self._analyze(self._reader.read(query_id, fields))
        except QueryError as error:
            named = {"field": error.field, "id": query_id} if error.field else {}
            self._answer({"error": str(error), **({"id": query_id} if query_id else {}), **named})
        except AlphaZeroError as error:
            self._answer({"error": str(error), "id": query_id})

    def _answer(self, fields: dict[str, Any]) -> None:
        self.say(json.dumps(fields, separators=(",", ":"), sort_keys=True) + "\n")

    # --- analyses --------------------------------------------------------------------------------

    def _analyze(self, query: Query) -> None:
        for name, text in query.warnings:
            self._answer({"warning": text, "field": name, "id": query.id})
        for position in query.positions:
            if query.game.outcome(position.state) != ONGOING:
                self._answer(_response(query, position, _finished(query.game, position.state)))
            else:
                self._search(query, position)

    def _search(self, query: Query, position: QueriedPosition) -> None:
        pool = self._pool(query)
        client = object()  # of its own: no tree of another position is taken over
        request = SearchRequest(
            client,
            [],
            position.state,
            query.simulations,
            query.seconds,
            lambda progress: self._on_progress(job, progress),
            lambda response: self._on_response(job, response),
            position.priority,
            position.allowed,
            math.inf if query.report_interval is None else query.report_interval,
            lines=query.game.num_actions,
            candidates=query.game.num_actions,
            line_visits=query.line_visits,
        )
        job = _Analysis(query, position, pool, request)
        self._jobs.append(job)
        pool.submit(request)

    def _pool(self, query: Query) -> SearchPool:
        """Return the search pool of a player and its game; idle ones make room for new ones."""
        key = query.spec.game or query.game  # a network serves every komi
        self._pools = {game: pool for game, pool in self._pools.items() if not pool.has_failed}
        pool = self._pools.pop(key, None)
        if pool is None:
            idle = [game for game, each in self._pools.items() if not each.is_busy]
            for game in idle[: max(0, len(self._pools) + 1 - MAX_POOLS)]:
                self._pools.pop(game).close()
            pool = SearchPool(query.spec, key, self._events.put)
        self._pools[key] = pool  # the last one used is the last in order
        return pool

    def _on_progress(self, job: _Analysis, progress: SearchProgress) -> None:
        if job in self._jobs:
            self._answer(_response(job.query, job.position, progress.result, during=True))

    def _on_response(self, job: _Analysis, response: SearchResponse) -> None:
        self._jobs.remove(job)
        job.pool.release(job.request.client)
        if response.error:
            self._answer({"error": response.error, "id": job.query.id})
        elif response.progress is None:
            self._answer(_response(job.query, job.position, None))
        else:
            self._answer(_response(job.query, job.position, response.progress.result))

    # --- actions ---------------------------------------------------------------------------------

    def _act(self, given: dict[str, Any]) -> None:
        fields = QueryFields(given)
        action = fields.text("action")
        actions = {
            "query_version": self._query_version,
            "query_models": self._query_models,
            "clear_cache": self._clear_cache,
            "terminate": self._terminate,
            "terminate_all": self._terminate,
        }
        if action not in actions:
            hint = did_you_mean(action, actions)
            known = ", ".join(actions)
            raise QueryError(f"unknown action {action[:40]!r}{hint} (known: {known})", "action")
        actions[action](given, fields)

    def _query_version(self, given: dict[str, Any], _: QueryFields) -> None:
        reported = {"version": version("alphazero"), "git_hash": "<omitted>"}
        self._answer(given | reported)

    def _query_models(self, given: dict[str, Any], _: QueryFields) -> None:
        options, models = self._reader.spec.options, list[dict[str, Any]]()
        if isinstance(options, CheckpointOptions):
            names = {"name": options.saved.path.name, "internalName": self._reader.spec.name}
            models = [names | {"maxBatchSize": SLOTS, "usesHumanSLProfile": False}]
        self._answer(given | {"models": models})

    def _clear_cache(self, given: dict[str, Any], _: QueryFields) -> None:
        """Answer once the caches of all pools are cleared."""
        waiting = set(self._pools.values())

        def on_cleared(pool: SearchPool) -> None:
            waiting.discard(pool)
            if not waiting:
                self._answer(given)

        for pool in list(waiting):
            pool.clear_cache(functools.partial(on_cleared, pool))
        if not waiting:
            self._answer(given)

    def _terminate(self, given: dict[str, Any], fields: QueryFields) -> None:
        """End the analyses of one id or of all, at some turns or at all."""
        wanted = fields.text("terminateId") if given["action"] == "terminate" else None
        turns = None
        if "turnNumbers" in fields:
            turns = fields.integers("turnNumbers", 0, 10**9)
        for job in self._jobs:
            if wanted in (None, job.query.id) and (turns is None or job.position.turn in turns):
                job.pool.finish(job.request)
        self._answer(given)


def _read_object(text: str) -> dict[str, Any]:
    """Parse a line.

    Raises:
        QueryError: when it is no JSON object.
    """
    if len(text) > LONGEST:
        raise QueryError(f"Request line too long: at most {LONGEST:,} characters")
    try:
        return parse_object(text)
    except TypeError:
        raise QueryError("Request line was valid json but was not an object, ignoring") from None
    except ValueError as error:
        raise QueryError(f"{error} - could not parse input line as json request") from None


def _finished(game: Game, state: State) -> SearchResult:
    """Return the result of a finished game: its outcome, without moves."""
    value = float(value_of(game.outcome(state), to_play(state)))
    return SearchResult(value, value, 0, [], predict_end(game, state))


def _response(
    query: Query, position: QueriedPosition, result: SearchResult | None, during: bool = False
) -> dict[str, Any]:
    """Return the response for a position; without a result it was ended before its search."""
    response = {"id": query.id, "turnNumber": position.turn, "isDuringSearch": during}
    if result is None:
        return response | {"noResults": True}
    state, notation = position.state, query.notation
    player = query.player(state)
    moves: list[dict[str, Any]] = []
    for candidate in result.candidates:
        if candidate.visits:
            shown = candidate._replace(
                line=candidate.line[: query.longest_line],
                line_visits=candidate.line_visits[: query.longest_line],
            )
            moves.append(report.move_info(notation, state, result, shown, len(moves), player))
    response["moveInfos"] = moves
    response["rootInfo"] = report.root_info(query.game, state, result, player)
    if query.policy and result.policy is not None:
        cells, passing = report.policy(notation, state, result.policy)
        shares = np.append(cells, passing)
        response["policy"] = np.where(np.isnan(shares), -1, shares).tolist()
    shares_of_cells = report.ownership(result.end, player) if query.ownership else None
    if shares_of_cells is not None:
        response["ownership"] = shares_of_cells
    return response
