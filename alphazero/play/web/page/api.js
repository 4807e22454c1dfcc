// Talking to the server: questions, commands to this page's session, and its stream of news.

/** An error that the server, or the lack of one, tells in one line. */
export class ApiError extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

async function ask(method, path, body) {
  let answer;
  try {
    answer = await fetch(path, {
      method,
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw new ApiError("The server does not answer. Is it still running?", 0);
  }
  const data = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new ApiError(data.error ?? `The server says ${answer.status}.`, answer.status);
  return data;
}

/** Games, players and runs there are. */
export const readSetup = () => ask("GET", "/api/setup");

/** A run's iterations. */
export const readRun = (run) => ask("GET", `/api/runs/${encodeURIComponent(run)}`);

/** The games of one iteration. */
export const readGames = (run, iteration, kind) =>
  ask("GET", `/api/runs/${encodeURIComponent(run)}/${iteration}?kind=${kind}`);

/** Sit down at a new table; answers its first view. */
export const openSession = (game, seats) => ask("POST", "/api/sessions", { game, seats });

/** Send one command to a session; answers the view after it. */
export const command = (id, name, body = {}) => ask("POST", `/api/sessions/${id}/${name}`, body);

/** Where a session's game can be downloaded. */
export const saveAddress = (id, format) => `/api/sessions/${id}/save?format=${format}`;

/**
 * Listen to a session. The browser itself comes back after a broken connection; an answer that is
 * no stream at all (a session that the server no longer knows) ends it, and calls `gone`.
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
