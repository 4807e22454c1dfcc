// Light or dark: as the system says, until somebody presses the switch.

const KEPT = "alphazero-theme";
const root = document.documentElement;

/** Private windows may refuse to keep anything: then the choice lasts as long as the page. */
function kept(value) {
  try {
    if (value !== undefined) localStorage.setItem(KEPT, value);
    return localStorage.getItem(KEPT);
  } catch {
    return null;
  }
}

/** Make `button` the switch, and take up what was chosen last time. */
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
