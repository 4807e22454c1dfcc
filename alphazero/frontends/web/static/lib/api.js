// The server API: queries, session commands and event streams.

/** An error with a one-line message for the user. */
export class ApiError extends Error {}

async function request(method, path, body) {
  let answer;
  try {
    const headers = body ? { "Content-Type": "application/json" } : {};
    answer = await fetch(path, { method, headers, body: body && JSON.stringify(body) });
  } catch {
    throw new ApiError("The server does not answer. Is it still running?");
  }
  if (answer.ok) return answer;
  const { error } = await answer.json().catch(() => ({}));
  throw new ApiError(error ?? `The server answers ${answer.status} ${answer.statusText}.`);
}

const ask = async (...question) => (await request(...question)).json();

/** The games, players and runs. */
export const readSetup = () => ask("GET", "/api/setup");

/** A run's iterations. */
export const readRun = (run) => ask("GET", `/api/runs/${encodeURIComponent(run)}`);

/** The games of one iteration. */
export const readGames = (run, iteration, kind) =>
  ask("GET", `/api/runs/${encodeURIComponent(run)}/${iteration}?kind=${kind}`);

/** Open a session; returns its first view. */
export const openSession = (game, seats) => ask("POST", "/api/sessions", { game, seats });

/** Send a command to a session; returns its new view. */
export const command = (id, name, body = {}) => ask("POST", `/api/sessions/${id}/${name}`, body);

/** A session's game as a file: {name, content}. */
export async function readFile(id, format) {
  const answer = await request("GET", `/api/sessions/${id}/save?format=${format}`);
  const [, name] = /filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition")) ?? [];
  return { name: name ?? `game.${format}`, content: await answer.blob() };
}

/**
 * Listen to a session. The browser reconnects by itself; a response that is no stream (the session
 * has ended) closes the stream and calls `gone`.
 */
export function listen(id, { view, thought, lost, back, gone }) {
  const stream = new EventSource(`/api/sessions/${id}/events`);
  stream.addEventListener("view", (event) => view(JSON.parse(event.data)));
  stream.addEventListener("thought", (event) => thought(JSON.parse(event.data)));
  stream.addEventListener("open", back);
  stream.addEventListener("error", () => {
    if (stream.readyState === EventSource.CLOSED) gone();
    else lost();
  });
  return stream;
}
