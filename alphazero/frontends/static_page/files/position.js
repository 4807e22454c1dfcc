// A position as the board component takes it: the drawing, and what each cell holds and allows.

/** Counts the views. */
let serial = 0;

/** Return the view of `state` for board/board.js; with `playable`, cells offer their moves. */
export function viewOf(player, game, state, playable) {
  const { board, style } = player;
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
    id: "page",
    serial: (serial += 1),
    game: player.game.name,
    board: {
      ...board,
      cells,
      last: state.last < 0 ? null : lastCell(game, state),
      source: null,
      winning: winningCells(game, state),
    },
    board_style: style,
    looks: player.looks,
    rows,
    columns,
    side_names: player.side_names,
    ply: state.ply,
    to_play: state.ply % 2,
  };
}

/** Return an action's name: the column's number, or the cell's. */
export function nameOf({ board }, game, state, action) {
  const named = game.numActions === game.columns;
  return named ? String(action + 1) : board.cells[game.cellOf(state, action)].label;
}

/** Return the cells of the winner's lines. */
function winningCells(game, { cells }) {
  return [...cells.keys()].filter((cell) => cells[cell] !== 0 && game.completesLine(cells, cell));
}

/** Return the cell of the last move: in a column, its topmost stone. */
function lastCell(game, { cells, last }) {
  if (game.numActions !== game.columns) return last;
  let cell = last;
  while (cells[cell] === 0) cell += game.columns;
  return cell;
}
