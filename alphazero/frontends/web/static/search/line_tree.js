// The searched answers to a move, as a tree that opens by click.

import { chance, count, make, setText } from "../lib/dom.js";

export class LineTree {
  /** `showLine(line)` is called with the moves down to the one that is opened. */
  constructor(root, showLine) {
    this.root = root;
    this.showLine = showLine;
    this.title = make("p", { class: "caption" });
    this.list = make("ul");
    root.append(this.title, this.list);
  }

  /**
   * Show the answers to a candidate as they are now; nothing for null.
   * @param {import("../../types").Candidate | null} candidate
   */
  show(candidate) {
    this.root.hidden = !candidate;
    if (!candidate) return;
    const { name, replies, line } = candidate;
    const words = replies.length > 0 ? `Answers to ${name}` : `No answer to ${name} was searched.`;
    setText(this.title, words);
    this.list.replaceChildren(...this.items(replies, line.slice(0, 1)));
  }

  /**
   * @param {import("../../types").Reply[]} replies
   * @param {import("../../types").LineMove[]} line the moves before them
   */
  items(replies, line) {
    return replies.map((reply) => {
      const path = [...line, reply];
      const words = [
        make("strong", {}, reply.name), ` wins ${chance(reply.value)}, ${count(reply.visits)} visits`,
      ];
      if (reply.replies.length === 0) return make("li", {}, ...words);
      const below = make("ul", {}, ...this.items(reply.replies, path));
      const toggle = ({ currentTarget: { open } }) => this.showLine(open ? path : line);
      return make("li", {}, make("details", { toggle }, make("summary", {}, ...words), below));
    });
  }
}
