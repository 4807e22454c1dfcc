// The server API: queries, session commands and event streams.

/** Send a request; errors have a one-line message for the user. */
async function request(method, path, body) {
  let response;
  try {
    const headers = body ? { "Content-Type": "application/json" } : {};
    response = await fetch(path, { method, headers, body: body && JSON.stringify(body) });
  } catch {
    throw new Error("The server does not respond. Is it still running?");
  }
  if (response.ok) return response;
  const { error } = await response.json().catch(() => ({}));
  throw new Error(error ?? `The server answered ${response.status} ${response.statusText}.`);
}

const requestJson = async (...query) => (await request(...query)).json();

/** The games, players and runs. */
export const readSetup = () => requestJson("GET", "/api/setup");

/** A run's iterations. */
export const readRun = (run) => requestJson("GET", `/api/runs/${encodeURIComponent(run)}`);

/** A run's charts. */
export const readCharts = (run) =>
  requestJson("GET", `/api/runs/${encodeURIComponent(run)}/charts`);

/** The games of one iteration. */
export const readGames = (run, iteration, kind) =>
  requestJson("GET", `/api/runs/${encodeURIComponent(run)}/${iteration}?kind=${kind}`);

/** The moves that a run's or a file's games made in a session's position. */
export const readOpenings = (id, run) =>
  requestJson("GET", `/api/sessions/${id}/openings?run=${encodeURIComponent(run)}`);

/** Open a session; returns its first view. */
export const openSession = (game, sides) => requestJson("POST", "/api/sessions", { game, sides });

/** Send a command to a session; returns its new view. */
export const command = (id, name, body = {}) =>
  requestJson("POST", `/api/sessions/${id}/${name}`, body);

/** A session's game as a file: {name, content}. */
export async function readFile(id, format) {
  const response = await request("GET", `/api/sessions/${id}/save?format=${format}`);
  const [, name] = /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition")) ?? [];
  return { name: name ?? `game.${format}`, content: await response.blob() };
}

/**
 * Listen to a session. The browser reconnects by itself; an error response (the session has ended)
 * closes the stream and calls `onEnd`.
 */
export function listen(id, { onView, onSearch, onRuns, onReconnect, onLost, onEnd }) {
  const stream = new EventSource(`/api/sessions/${id}/events`);
  stream.addEventListener("view", (event) => onView(JSON.parse(event.data)));
  stream.addEventListener("search", (event) => onSearch(JSON.parse(event.data)));
  stream.addEventListener("runs", (event) => onRuns(JSON.parse(event.data)));
  stream.addEventListener("open", onReconnect);
  stream.addEventListener("error", () => {
    if (stream.readyState === EventSource.CLOSED) onEnd();
    else onLost();
  });
  return stream;
}
