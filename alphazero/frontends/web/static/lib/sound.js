// A short click for each move, off until the user turns it on.

import { stored } from "./dom.js";

const STORAGE_KEY = "alphazero-sound";
const ON = "M3 8v4h3l4 4V4L6 8zm9.5-1 .8-1.3a5 5 0 0 1 0 8.6l-.8-1.3a3.5 3.5 0 0 0 0-6z";
const OFF = "M3 8v4h3l4 4V4L6 8zm9 0 1-1 1.5 1.5L16 7l1 1-1.5 1.5L17 11l-1 1-1.5-1.5L13 12l-1-1 1.5-1.5z";

export class Sound {
  /** Make `button` the switch. */
  constructor(button, makeIcon) {
    this.isOn = stored(STORAGE_KEY) === "on";
    /** @type {AudioContext} made with the first click */
    this.context = undefined;
    const show = () => {
      const name = this.isOn ? "Turn sound off" : "Turn sound on";
      button.title = name;
      button.setAttribute("aria-label", name);
      button.replaceChildren(makeIcon(this.isOn ? ON : OFF));
    };
    button.addEventListener("click", () => {
      this.isOn = !this.isOn;
      stored(STORAGE_KEY, this.isOn ? "on" : "off");
      show();
      this.click();
    });
    show();
  }

  /** Play a click: a tone of 220 Hz, higher for a capture, that fades within 90 ms. */
  click(isCapture = false) {
    if (!this.isOn) return;
    this.context ??= new AudioContext();
    const { context } = this;
    const tone = new OscillatorNode(context, { type: "triangle", frequency: isCapture ? 330 : 220 });
    const volume = new GainNode(context, { gain: 0.25 });
    volume.gain.exponentialRampToValueAtTime(0.001, context.currentTime + 0.09);
    tone.connect(volume).connect(context.destination);
    tone.start();
    tone.stop(context.currentTime + 0.1);
  }
}
