// The light or dark theme: that of the system until the user presses the switch.

import { stored } from "./dom.js";

const STORAGE_KEY = "alphazero-theme";
const root = document.documentElement;

/** Make `button` the switch and restore the last choice. */
export function followTheme(button) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = stored(STORAGE_KEY);
  const show = () => {
    const dark = chosen === null ? system.matches : chosen === "dark";
    root.dataset.theme = dark ? "dark" : "light";
    button.textContent = dark ? "☀" : "☾";
    button.title = dark ? "Light colours" : "Dark colours";
    button.setAttribute("aria-label", button.title);
  };
  button.addEventListener("click", () => {
    chosen = root.dataset.theme === "dark" ? "light" : "dark";
    stored(STORAGE_KEY, chosen);
    show();
  });
  system.addEventListener("change", show);
  show();
}
