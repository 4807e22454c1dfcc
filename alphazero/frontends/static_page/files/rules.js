// The rules of games won by a straight line of stones: Connect Four and m,n,k-games.
//
// The same as alphazero/games/line_games.py, connect_four.py and mnk.py; a test plays both. Cells are
// counted row by row from the top left: 0 is empty, 1 a stone of player 0, 2 of player 1.

export const ONGOING = 2;

const DIRECTIONS = [[0, 1], [1, 0], [1, 1], [1, -1]];

/** The rules of one board. A state is {cells, ply, last, outcome}, and is never changed. */
class LineGame {
  constructor({ rows, columns, length }, numActions, numPlanes) {
    Object.assign(this, { rows, columns, length, size: rows * columns, numActions, numPlanes });
  }

  initialState() {
    return { cells: new Uint8Array(this.size), ply: 0, last: -1, outcome: ONGOING };
  }

  /** Return the legal actions, in ascending order. */
  legalActions(state) {
    if (state.outcome !== ONGOING) return [];
    const actions = [];
    for (let action = 0; action < this.numActions; action += 1) {
      if (state.cells[action] === 0) actions.push(action); // of a column: its top cell
    }
    return actions;
  }

  /** Return the state after a legal action. */
  play(state, action) {
    const cell = this.cellOf(state, action);
    const cells = state.cells.slice();
    const player = state.ply % 2;
    const ply = state.ply + 1;
    cells[cell] = player + 1;
    let outcome = ply === this.size ? 0 : ONGOING;
    if (this.completesLine(cells, cell)) outcome = 1 - 2 * player;
    return { cells, ply, last: action, outcome };
  }

  /** Whether the stone on `cell` is in a line of `length` or more. */
  completesLine(cells, cell) {
    const stone = cells[cell];
    const [row, column] = [Math.floor(cell / this.columns), cell % this.columns];
    return DIRECTIONS.some(([down, right]) => {
      let run = 1;
      for (const sign of [-1, 1]) {
        let [r, c] = [row + sign * down, column + sign * right];
        while (
          r >= 0 && r < this.rows && c >= 0 && c < this.columns
          && cells[r * this.columns + c] === stone
        ) {
          run += 1;
          r += sign * down;
          c += sign * right;
        }
      }
      return run >= this.length;
    });
  }

  /** Write the planes of the player to move into `planes`, which holds zeros from `offset` on. */
  observe(state, planes, offset) {
    const { cells, ply } = state;
    const own = (ply % 2) + 1;
    for (let cell = 0; cell < this.size; cell += 1) {
      if (cells[cell] !== 0) planes[offset + (cells[cell] === own ? 0 : this.size) + cell] = 1;
    }
    this.observeMore(state, planes, offset + 2 * this.size);
  }
}

/** An action is a column; the stone falls to its lowest empty cell. */
class ConnectFour extends LineGame {
  constructor(board) {
    super(board, board.columns, 3);
  }

  cellOf(state, action) {
    let cell = (this.rows - 1) * this.columns + action;
    while (state.cells[cell] !== 0) cell -= this.columns;
    return cell;
  }

  /** Ones when player 0 is to move. */
  observeMore(state, planes, offset) {
    if (state.ply % 2 === 0) planes.fill(1, offset, offset + this.size);
  }
}

/** An action is a cell. */
class Mnk extends LineGame {
  constructor(board) {
    super(board, board.rows * board.columns, 4);
  }

  cellOf(state, action) {
    return action;
  }

  /** The last move, then ones when player 0 is to move. */
  observeMore(state, planes, offset) {
    if (state.last >= 0) planes[offset + state.last] = 1;
    if (state.ply % 2 === 0) planes.fill(1, offset + this.size, offset + 2 * this.size);
  }
}

const RULES = { connect_four: ConnectFour, mnk: Mnk };

/** Return the game of {rules, rows, columns, length}. */
export function makeGame(description) {
  return new RULES[description.rules](description);
}

/** Convert an outcome, which is for player 0, to a value for `player`. */
export function valueOf(outcome, player) {
  return player === 0 ? outcome : -outcome;
}
