// The server API: the catalog, session commands and event streams.

/** Send a request; errors have a one-line message for the user. */
async function request(method, path, body) {
  let response;
  try {
    const headers = body ? { "Content-Type": "application/json" } : {};
    response = await fetch(path, { method, headers, body: body && JSON.stringify(body) });
  } catch {
    throw new Error("The server does not respond. Is it still running?");
  }
  const content = await response.json();
  if (!response.ok) throw new Error(content.error);
  return content;
}

/** The games and players. */
export const readSetup = () => request("GET", "/api/setup");

/** Open a session; returns its first view. */
export const openSession = (game, sides) => request("POST", "/api/sessions", { game, sides });

/** Send a command to a session; returns its new view. */
export const command = (id, name, body = {}) =>
  request("POST", `/api/sessions/${id}/${name}`, body);

/**
 * Listen to a session. The browser reconnects by itself; an error response (the session has ended)
 * closes the stream and calls `onEnd`.
 */
export function listen(id, { onView, onSearch, onReconnect, onLost, onEnd }) {
  const stream = new EventSource(`/api/sessions/${id}/events`);
  stream.addEventListener("view", (event) => onView(JSON.parse(event.data)));
  stream.addEventListener("search", (event) => onSearch(JSON.parse(event.data)));
  stream.addEventListener("open", onReconnect);
  stream.addEventListener("error", () => {
    if (stream.readyState === EventSource.CLOSED) onEnd();
    else onLost();
  });
  return stream;
}
