/** All that the page shows. */

import type {
  ChannelName, Cluster, ClusterId, Doubts, Entry, Heard, Layout, People, Project, Question, Row, State, Value,
} from "../api";
import type { Values } from "./frames";

export type ColorMode = "cluster" | ChannelName;
export type Tab = "question" | "map" | "clusters" | "doubts" | "answers" | "people";

/** A question on the page; `replaces` is the answer that a new one takes the place of. */
export type Asked = Question & { replaces: number | null };

/** What was answered last, and what the model would have said. */
export interface Told {
  question: Asked;
  value: Value;
  guess: Heard["guess"];
}

/** Labels of all rows; `changed`: the rows that differ from those of the revision `from`, if the server told. */
export interface Labels {
  values: Values;
  revision: number;
  changed: { rows: Uint32Array; values: Values; from: number } | null;
}

export interface Notice {
  words: string;
  tone: "calm" | "bad";
  redo: boolean;
}

export interface Model {
  project: Project | null;
  state: State | null;
  /** Why the page cannot be shown at all. */
  fatal: string | null;
  online: boolean;
  /** Answers that the server does not have yet, and whether they wait for it. */
  kept: number;
  stuck: string | null;
  notice: Notice | null;

  questions: Asked[];
  told: Told | null;
  entries: Entry[];

  layouts: Layout[];
  layout: string;
  points: Float32Array | null;
  labels: Labels | null;
  color: ColorMode;
  selected: ClusterId[];
  lasso: Row[];
  pile: Row[];
  found: Row[];
  card: Row | null;
  neighbors: Row[];
  links: boolean;
  table: boolean;

  clusters: Cluster[];
  doubts: Doubts | null;
  people: People | null;

  /** The panel on a narrow page, and the one below the question on a wide page. */
  tab: Tab;
  side: "doubts" | "answers" | "people";
  help: boolean;
  tour: number | null;
  dark: boolean;
  calm: boolean;
}

export const EMPTY: Model = {
  project: null, state: null, fatal: null, online: true, kept: 0, stuck: null, notice: null,
  questions: [], told: null, entries: [],
  layouts: [], layout: "", points: null, labels: null, color: "cluster", selected: [], lasso: [], pile: [],
  found: [], card: null, neighbors: [], links: false, table: false,
  clusters: [], doubts: null, people: null,
  tab: "question", side: "doubts", help: false, tour: null, dark: false, calm: false,
};
