// The light or dark theme: that of the system until the user presses the switch.

const KEPT = "alphazero-theme";
const root = document.documentElement;

/** Load or store the choice. Private windows may have no storage: it then lasts for the page. */
function kept(value) {
  try {
    if (value !== undefined) localStorage.setItem(KEPT, value);
    return localStorage.getItem(KEPT);
  } catch {
    return null;
  }
}

/** Make `button` the switch and restore the last choice. */
export function followTheme(button) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = kept();
  const show = () => {
    const dark = chosen === null ? system.matches : chosen === "dark";
    root.dataset.theme = dark ? "dark" : "light";
    button.textContent = dark ? "☀" : "☾";
    button.title = dark ? "Light colours" : "Dark colours";
    button.setAttribute("aria-label", button.title);
  };
  button.addEventListener("click", () => {
    chosen = root.dataset.theme === "dark" ? "light" : "dark";
    kept(chosen);
    show();
  });
  system.addEventListener("change", show);
  show();
}
