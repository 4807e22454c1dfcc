// What boards and stones are made of, as gradients and patterns that the page's shapes refer to.

const MATERIALS = `
<svg xmlns="http://www.w3.org/2000/svg" class="visually-hidden" aria-hidden="true">
  <defs>
    <radialGradient id="stone-black" cx="0.36" cy="0.3" r="0.8"><stop offset="0" stop-color="#70747c"/><stop offset="0.45" stop-color="#2c2e33"/><stop offset="1" stop-color="#0d0e10"/></radialGradient>
    <radialGradient id="stone-white" cx="0.36" cy="0.3" r="0.8"><stop offset="0" stop-color="#ffffff"/><stop offset="0.55" stop-color="#f4f1e9"/><stop offset="1" stop-color="#bfb9aa"/></radialGradient>
    <radialGradient id="stone-red" cx="0.36" cy="0.3" r="0.8"><stop offset="0" stop-color="#f58a78"/><stop offset="0.5" stop-color="#d23f31"/><stop offset="1" stop-color="#9a2118"/></radialGradient>
    <radialGradient id="stone-yellow" cx="0.36" cy="0.3" r="0.8"><stop offset="0" stop-color="#fff3b4"/><stop offset="0.5" stop-color="#f4c832"/><stop offset="1" stop-color="#c8920f"/></radialGradient>
    <radialGradient id="stone-blue" cx="0.36" cy="0.3" r="0.8"><stop offset="0" stop-color="#9cc6fa"/><stop offset="0.5" stop-color="#3672c4"/><stop offset="1" stop-color="#1d467f"/></radialGradient>
    <radialGradient id="stone-green" cx="0.36" cy="0.3" r="0.8"><stop offset="0" stop-color="#9bd8b0"/><stop offset="0.5" stop-color="#3c8f58"/><stop offset="1" stop-color="#1e5a34"/></radialGradient>
    <radialGradient id="stone-chip" cx="0.36" cy="0.3" r="0.8"><stop offset="0" stop-color="#f7e4bf"/><stop offset="0.55" stop-color="#d3a55c"/><stop offset="1" stop-color="#93682a"/></radialGradient>
    <radialGradient id="felt" r="0.75"><stop offset="0" class="felt-middle"/><stop offset="1" class="felt-rim"/></radialGradient>
    <linearGradient id="rack" x2="0" y2="1"><stop offset="0" class="rack-top"/><stop offset="1" class="rack-bottom"/></linearGradient>
    <radialGradient id="hole" cy="0.56"><stop offset="0.72" class="hole-middle"/><stop offset="1" class="hole-rim"/></radialGradient>
    <pattern id="wood" width="260" height="120" patternUnits="userSpaceOnUse">
      <rect width="260" height="120" class="wood-ground"/>
      <g class="wood-grain">
        <path d="M0 8c60 7 120-6 180 1s60 2 80-1M0 27c70-6 110 8 170 3s70-5 90-3M0 52c50 5 90-7 150-2s90 5 110 2M0 71c80 8 120-7 180-2s60 4 80 2M0 97c60-5 130 6 190 1s50-3 70-1"/>
        <path d="M0 17c90 4 140-5 200 0s40 2 60 0M0 40c50-4 120 6 180 2s60-3 80-2M0 61c100 5 130-4 190 0s50 2 70 0M0 84c70-5 120 5 180 2s60-3 80-2M0 110c80 4 140-5 190-1s50 2 70 1"/>
      </g>
    </pattern>
  </defs>
</svg>`;

/** Add the materials to the page. */
export function addMaterials() {
  const parsed = new DOMParser().parseFromString(MATERIALS.trim(), "image/svg+xml");
  document.body.prepend(document.importNode(parsed.documentElement, true));
}
