// The light or dark theme: that of the system until the user presses the switch.

const STORAGE_KEY = "alphazero-theme";
const root = document.documentElement;

/** Load or store the choice. Without storage, as in some private windows, it lasts for the page. */
function storedChoice(value) {
  try {
    if (value !== undefined) localStorage.setItem(STORAGE_KEY, value);
    return localStorage.getItem(STORAGE_KEY);
  } catch {
    return null;
  }
}

/** Make `button` the switch and restore the last choice. */
export function followTheme(button) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = storedChoice();
  const show = () => {
    const dark = chosen === null ? system.matches : chosen === "dark";
    root.dataset.theme = dark ? "dark" : "light";
    button.textContent = dark ? "☀" : "☾";
    button.title = dark ? "Light colours" : "Dark colours";
    button.setAttribute("aria-label", button.title);
  };
  button.addEventListener("click", () => {
    chosen = root.dataset.theme === "dark" ? "light" : "dark";
    storedChoice(chosen);
    show();
  });
  system.addEventListener("change", show);
  show();
}
