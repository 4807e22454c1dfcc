/** What the server sends to the page, for `tsc`; `view.py` and `board_view.py` write it. */

export interface Action {
  action: number;
  name: string;
  /** the cell that a piece leaves; missing for a new stone */
  source?: number;
}

export interface Cell {
  x: number;
  y: number;
  /** 0 empty, 1 and 2 a player's stone, 3 a chip of neither */
  stone: number;
  label: string;
  actions: Action[];
}

export interface Board {
  /** an SVG without stones */
  field: string;
  width: number;
  height: number;
  radius: number;
  cells: Cell[];
  winning: number[];
  last: number | null;
  source: number | null;
  taken: number[];
}

export interface LineMove {
  name: string;
  cell: number | null;
  source: number | null;
  player: number;
}

/** A searched answer, with the answers to it. */
export interface Reply extends LineMove {
  visits: number;
  value: number;
  replies: Reply[];
}

export interface Candidate {
  action: number;
  name: string;
  cell: number | null;
  source: number | null;
  visits: number | null;
  share: number;
  /** in [-1, 1] for the player to move */
  value: number | null;
  prior: number;
  line: LineMove[];
  replies: Reply[];
}

/** How a game will end; null where nothing is known. */
export interface End {
  margin: string | null;
  ownership: number[] | null;
}

export interface Search {
  value: number;
  network_value: number;
  simulations: number;
  per_second: number;
  end: End | null;
  proof: string | null;
  candidates: Candidate[];
}

/** The results in a position, of the usual player and of the one beside it. */
export interface Searches {
  ply: number;
  search: Search | null;
  second: Search | null;
}

export interface Move {
  ply: number;
  name: string;
  player: number;
  /** in [-1, 1] for player 0 */
  value: number | null;
  comment: string;
  branches: number;
  review: MoveReview | null;
}

/** How a review judges a move; only a bad move has a better one. */
export interface MoveReview {
  judgement: string;
  sign: string;
  before: number;
  after: number;
  better: { name: string; end: string | null } | null;
}

/** A review of the game: how far it is, and what it has found. */
export interface GameReview {
  running: boolean;
  done: number;
  total: number;
  exact: number;
  player: string;
  accuracies: (number | null)[];
  counts: Record<string, number>[];
  mistakes: { ply: number; name: string; player: number; review: MoveReview }[];
}

/** The line of a mistake that the user follows, or tries again. */
export interface Detour {
  kind: string;
  ply: number;
  name: string;
  attempt: { name: string; judgement: string | null; after: number | null } | null;
}

export interface Side {
  player: string;
  simulations?: number | null;
  seconds?: number | null;
  level?: number | null;
}

/** The moves that games made in a position, the most frequent first. */
export interface Openings {
  /** names of the periods of a run */
  groups: string[];
  games: number;
  moves: {
    action: number;
    name: string;
    cell: number | null;
    source: number | null;
    games: number;
    /** in [0, 1], for the side that makes the move; null without a finished game */
    score: number | null;
    /** of the games of each period */
    shares: (number | null)[];
  }[];
}

export interface View extends Searches {
  id: string;
  serial: number;
  game: string;
  title: string;
  board: Board;
  board_style: string;
  material: string;
  looks: [string, string];
  sgf: boolean;
  rows: number;
  columns: number;
  offboard_moves: Action[];
  to_play: number;
  side_names: [string, string];
  points: [number, number] | null;
  captures: [number, number];
  value: number | null;
  status: string;
  source: string | null;
  players: [string | null, string | null];
  has_territory: boolean;
  end: End | null;
  now: End | null;
  over: boolean;
  start_value: number | null;
  moves: Move[];
  children: { index: number; name: string }[];
  sides: [Side, Side];
  paused: boolean;
  thinking: boolean;
  analyzing: boolean;
  analysis_player: string;
  second_player: string | null;
  hint: boolean;
  message: string;
  recorded: Recorded | null;
  /** the runs and files that hold games of this game */
  archives: string[];
  review: GameReview | null;
  detour: Detour | null;
}

/** A run's record of a position. */
export interface Recorded {
  value: number;
  network_value: number;
  policy?: [number, number][];
  prior?: [number, number][];
}

/** A search of the page or of a record. */
export interface Result extends Partial<Search> {
  recorded: boolean;
  value: number;
  network_value: number;
  simulations: number | null;
  per_second: number | null;
  candidates: Candidate[];
}

export interface BudgetOption {
  label: string;
  simulations: number | null;
  seconds: number | null;
  /** ratings; a null end of an interval is open */
  by_game: Record<string, { elo: number; low: number | null; high: number | null }>;
}

export interface Player {
  name: string;
  game: string | null;
  free_options: string[];
  searches: boolean;
  budgets: BudgetOption[];
  default_budget: number;
  /** levels for people, the weakest first; none without a checkpoint */
  levels: { number: number; name: string; strength: string }[];
  /** its level and whether it has another budget, by the command line */
  own_level: number | null;
  has_own_budget: boolean;
  about: string[];
}

/** A run, or a file of games, which has only the first fields. */
export interface Run {
  name: string;
  game: string;
  /** its best player, if the page offers it */
  player: string | null;
  /** how often this player was loaded anew */
  loads: number;
  iteration?: number;
  games?: number;
  positions?: number;
  best_step?: number;
  /** share of the budget, in [0, 1] */
  budget_spent?: number;
}

export interface Setup {
  version: string;
  games: {
    name: string;
    title: string;
    side_names: [string, string];
    looks: [string, string];
    options: Record<string, number>;
  }[];
  players: Player[];
  runs: Run[];
}
