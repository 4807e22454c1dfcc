// Dragging a piece from its cell to another one.

/** Pixels that a pointer must move before a press is a drag. */
const LEAST = 6;

export class Drag {
  /** `board` is a `Board`; the board itself handles a press without a drag. */
  constructor(board) {
    this.board = board;
    /** The drag: {cell, x, y, moving}, or null. */
    this.current = null;
    board.cells.addEventListener("pointerdown", (event) => this.onDown(event));
    addEventListener("pointermove", (event) => this.onMove(event));
    addEventListener("pointerup", (event) => this.onUp(event));
    addEventListener("pointercancel", () => this.end());
  }

  onDown({ target, button, clientX: x, clientY: y }) {
    const cell = [...this.board.cells.children].indexOf(target);
    if (button !== 0 || cell < 0 || !this.board.sources().has(cell)) return;
    this.current = { cell, x, y, moving: false };
  }

  onMove({ clientX: x, clientY: y }) {
    if (!this.current) return;
    const { cell, moving } = this.current;
    if (!moving && Math.hypot(x - this.current.x, y - this.current.y) < LEAST) return;
    if (!moving) this.board.pickUp(cell);
    this.current.moving = true;
    this.board.pieces.drag(cell, this.onBoard(x, y));
  }

  onUp({ clientX: x, clientY: y }) {
    const drag = this.current;
    this.end();
    if (!drag?.moving) return;
    const target = document.elementFromPoint(x, y);
    const cell = [...this.board.cells.children].indexOf(target);
    // The click that follows a drag back to its own cell would put the piece down.
    if (cell === drag.cell) this.board.picked = -1;
    else if (cell >= 0 && this.board.actionsOf(cell).length > 0) this.board.press(cell);
    else this.board.pickUp(-1);
  }

  end() {
    if (this.current?.moving) {
      const { cell } = this.current;
      this.board.pieces.drag(cell, null, this.board.view.board.cells[cell]);
    }
    this.current = null;
  }

  /** Return a point of the window in the board's own units. */
  onBoard(x, y) {
    const box = this.board.root.getBoundingClientRect();
    const { width, height } = this.board.view.board;
    return { x: ((x - box.left) / box.width) * width, y: ((y - box.top) / box.height) * height };
  }
}
