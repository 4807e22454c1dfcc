// A position as the board component takes it: the drawing, and what each cell holds and allows.

const STONES = ["var(--board-first)", "var(--board-second)"];

/** Return the view of `state` for components/board.js; with `playable`, cells offer their moves. */
export function viewOf(player, game, state, playable) {
  const { board, signs, style } = player;
  const cells = board.cells.map((cell, index) => ({
    ...cell,
    stone: state.cells[index],
    actions: [],
  }));
  for (const action of playable ? game.legalActions(state) : []) {
    const cell = game.cellOf(state, action);
    cells[cell].actions.push({ action, name: nameOf(player, game, state, action) });
  }
  const { rows, columns } = game;
  return {
    board: { ...board, svg: drawing(board, game, state), cells },
    board_style: style,
    rows,
    columns,
    signs,
    to_play: state.ply % 2,
  };
}

/** Return an action's name: the column's number, or the cell's. */
export function nameOf({ board }, game, state, action) {
  const named = game.numActions === game.columns;
  return named ? String(action + 1) : board.cells[game.cellOf(state, action)].label;
}

/** Return the empty board's picture with the stones, and a ring on the last one. */
function drawing(board, game, state) {
  const { radius } = board;
  const circle = ({ x, y }, r, paint) => `<circle cx="${x}" cy="${y}" r="${r}" ${paint}/>`;
  const shapes = board.cells.map((cell, index) => {
    const stone = state.cells[index];
    return stone === 0
      ? ""
      : circle(cell, radius, `fill="${STONES[stone - 1]}" stroke="var(--board-edge)"`);
  });
  if (state.last >= 0) {
    const cell = board.cells[lastCell(game, state)];
    shapes.push(circle(cell, radius / 2, 'fill="none" stroke="var(--board-mark)" stroke-width="2.4"'));
  }
  return board.svg.replace("</svg>", `${shapes.join("")}</svg>`);
}

/** Return the cell of the last move: in a column, its topmost stone. */
function lastCell(game, { cells, last }) {
  if (game.numActions !== game.columns) return last;
  let cell = last;
  while (cells[cell] === 0) cell += game.columns;
  return cell;
}
