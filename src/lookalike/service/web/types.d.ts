/**
 * The shapes that the server sends and the page keeps, known to all modules when they are checked
 * (`make check`). The browser never reads this file.
 */
type Id = string | number;
type Cell = any; // a number, a string, a bool, null, or a list of them
type Row = Record<string, Cell>;

interface Column {
  name: string;
  kind: string;
  compared: boolean;
  reason: string;
  note: string | null;
  /** Values that may mean "missing", and why. */
  suspects: { text: string; values: Cell[] };
  /** The share of rows without a value. */
  gaps: number;
  unit: string | null;
  summary: any;
}

interface Collection {
  name: string;
  title: string;
  rows: number;
  generation: number;
  id_column: string | null;
  /** The column that a filter names rows by. */
  row_ids: string;
  label_column: string | null;
  measure: { name: string; asked?: string; words: string; text: string; reason: string; weighable: boolean; weights: Record<string, number> };
  columns: Column[];
  drift: { refit: boolean; reasons: string[] };
  start: Id | null;
  spaces: { plain: boolean; repaired: "ready" | "job" | "none"; reduction_helps: boolean | null };
  jobs: Job[];
}

interface Reason { column: string; kind: string; share: number; query: Cell; found: Cell; text: string }
interface Part { column: string | null; plus: number; minus: number; query: Cell; found: Cell; text?: string }

interface Hit {
  rank: number;
  id: Id;
  label: string;
  compared: number;
  compared_of: number;
  score: number | null;
  similarity: number | null;
  distance: number | null;
  row: Row;
  reasons?: { for: Reason[]; against: Reason[] };
  columns?: Part[];
}

interface Answer {
  query: { id: Id | null; label: string | null; row: Row };
  hits: Hit[];
  matched: number;
  note: string | null;
  generation: number;
  space: string;
  took_ms: number;
}

interface Job {
  id: string;
  kind: string;
  collection: string | null;
  state: "queued" | "running" | "done" | "failed" | "cancelled";
  progress: number | null;
  text: string;
  problem: Problem | null;
}

/** An error as the server words it: RFC 9457 with our four parts. */
interface Problem { title: string; status: number; detail?: string; who?: string; needed?: string; found?: string; hint?: string; parameter?: string; value?: unknown }

interface Marks { like: Id[]; unlike: Id[] }
type Filter = Record<string, Record<string, any>>;
type Step = { marks: Marks } | { weights: Record<string, number> } | { filter: Filter };

/** Everything that a link holds. */
interface Link {
  collection: string | null;
  /** null: the row that the collection opens on. */
  query: { id: Id } | { record: Row } | null;
  steps: Step[];
  /** Marks that no list was made from yet. */
  pending: Marks;
  space: "plain" | "repaired";
  view: "map" | "graph" | "hubs" | "clusters" | "set";
  color: string | null;
  sized: boolean;
  open: Id | null;
  k: number;
  grown: Id[];
  /** A lasso in the coordinates of the map (x and y in turn), or rows by name. */
  set: { poly: number[] } | { ids: Id[] } | null;
  /** The hub whose lists are shown. */
  who: Id | null;
  /** Are lists drawn from twice as many rows? */
  wide: boolean;
  /** Another measure than the table has, for who has the link alone. */
  measure: string | null;
  /** Measures whose lists stand beside that of the table; null: the first two. */
  versus: string[] | null;
  /** Pairs that were reviewed: two ids, and whether they are the same record (null: skipped). */
  decided: Array<[Id, Id, boolean | null]>;
  /** From how many of them was learned? */
  told: number;
  /** The probability that makes a double; null: as it was chosen. */
  from: number | null;
  /** What the whole page shows instead of the list: the sheet of columns, or a table to bring. */
  sheet: "columns" | "new" | "measures" | "review" | null;
  /** How many clusters; null: as many as hold together best. */
  groups: number | null;
  /** Which rows the list is made from: the chosen set, or a cluster. */
  within: "set" | number | null;
}

/** One thing that was asked from the server. */
interface Slot {
  key: string;
  status: "loading" | "job" | "ready" | "error";
  /** The last answer, kept while the next one is on its way. */
  value: any;
  valueKey?: string;
  problem?: Problem;
  job?: Job;
}

/** What is on the screen but in no link. */
interface Ui {
  text: string;
  suggesting: boolean;
  suggestion: number;
  /** was Enter pressed before there was a list to choose from? */
  entered: boolean;
  /** The hit that the keys act on. */
  at: Id | null;
  draft: Row | null;
  columnText: string;
  dialog: string | null;
  tool: "pan" | "lasso" | "box";
  hover: Id | null;
  notice: string | null;
  wanted: string | null;
  fit: Job | null;
  /** Is the row under the pointer on the map, where a card tells about it? */
  card: boolean;
  /** Was the menu of measures looked at? Then it is asked which can compare these rows. */
  asking: boolean;
  /** Is the first list not on the screen yet? Then nothing is drawn that can come after it. */
  few: boolean;
  /** What marked rows are called, by id. */
  names: Record<string, string | undefined>;
  /** What a phone shows. */
  tab: "results" | "view" | "query";
  /** The table that is being sent, or why it was not taken. */
  upload: { title: string; sent?: number; problem?: Problem } | null;
  sheet: { kinds: Record<string, any>; tried: Record<string, any>; missing: Cell[]; label: string | null };
  /** The row that the form changes, and what it was. */
  editing: Id | null;
  was: Row | null;
  /** Rows that were changed here, so that it can be undone. */
  changes: any[];
  /** Was the last act a change of a row? */
  acted: boolean;
  /** The generation of the last change, which searches wait for. */
  written: number;
  /** The generation that maps and clusters must have at least. */
  fresh: number;
}

interface State { link: Link; slots: Record<string, Slot>; ui: Ui; epoch: number }
interface Action { type: string; [name: string]: any }
type Dispatch = (action: Action) => void;

interface Window {
  /** What the page opens on, asked for by `start.js`; absent where it came with the page. */
  lookalikeOpening?: Promise<any>;
  /** The token that a notebook has given to its page; then it is told what is chosen. */
  lookalikeToken?: string;
}
