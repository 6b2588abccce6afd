/**
 * What the page and the server say to each other. The Python side is `cluewise.web`; a test compares both.
 *
 * Requests carry `Authorization: Bearer TOKEN`. Errors are JSON `{"error": "One sentence."}` with a status of 4xx or 5xx.
 *
 * GET    /api/project                  Project
 * GET    /api/state                    State
 * GET    /api/questions?count=3        Question[]: those handed to this person and not answered yet, filled up
 * POST   /api/answers                  Said -> Heard
 * PUT    /api/answers/ID               {value, seconds?, nonce?} -> Heard: takes the answer back and gives another to the same question
 * DELETE /api/answers/ID               {} : takes back this answer or act
 * GET    /api/answers?last=10          Entry[], the newest first
 * POST   /api/undo, POST /api/redo     {entry: Entry | null}: the last answer or act of this person
 * POST   /api/acts                     Act -> {entry: number}
 * GET    /api/clusters                 Cluster[] with profiles
 * GET    /api/doubts                   Doubts
 * GET    /api/rows?ids=4,7             Card[]
 * GET    /api/neighbors/ROW?count=10   {row, name, distance}[]
 * GET    /api/search?q=TEXT&limit=50   {total, rows: {row, name, where}[]}
 * GET    /api/links?broken=0&limit=2000 {links: Link[], total}
 * GET    /api/layouts/ID               frame, float32 x, y of each row
 * GET    /api/labels                   frame, cluster id of each row
 * GET    /api/channels/NAME            frame, one value per row: known, confidence, doubt, source
 * GET    /api/images/ROW/COLUMN        an image
 * GET    /api/people                   People (links only for the owner)
 * POST   /api/people                   {name, role} -> {name, role, link}
 * DELETE /api/people/NAME              ends the link of a person; answers stay
 * GET    /api/people/NAME/answers      a file with all that this person said
 * DELETE /api/people/NAME/answers      deletes all that this person said
 * POST   /api/settings                 {overlap} -> {}
 * GET    /api/export/WHAT.FORMAT       answers|clusters . csv|parquet|json, project.cluewise, report.html
 *
 * WebSocket /api/live: the first message of the page is {"token": TOKEN}. The server then pushes texts (`Push`) and
 * binary frames of the types "labels" and "changes".
 *
 * A frame: uint32 (little endian) length of the header; the header, JSON in UTF-8, padded with spaces to a multiple of
 * 4; then the values, little endian.
 */

/** A row of the data, from 0. */
export type Row = number;
/** The permanent id of a cluster. */
export type ClusterId = number;

export type Role = "owner" | "answers" | "reads";
export type QuestionKind = "pair" | "label" | "which" | "group";
export type ColumnKind = "number" | "category" | "date" | "text" | "image" | "url";
export type ChannelName = "known" | "confidence" | "doubt" | "source";

export interface Project {
  name: string;
  version: string;
  rows: number;
  columns: { name: string; kind: ColumnKind }[];
  layouts: Layout[];
  me: { name: string; role: Role };
  /** Identifies data and project; the page keeps unsent answers under it. */
  key: string;
  remote_images: boolean;
}

export interface Layout {
  id: string;
  title: string;
  ready: boolean;
}

/** Everything that changes while people answer; small, whatever the number of rows. */
export interface State {
  /** Grows with each fit; labels of this revision follow as a frame. */
  revision: number;
  fitting: boolean;
  answers: number;
  acts: number;
  clusters: ClusterState[];
  noise: number;
  /** Share of the clues that seem right; null without clues. */
  trust: number | null;
  clues: number;
  broken: number;
  doubts: number;
  contradictions: number;
  /** Share of held-out clues that the clusters keep, with clues and without; null if there are too few. */
  helped: { with: number; without: number; clues: number } | null;
  /** What the last fit changed. */
  last: { moved: number; kept: number; words: string } | null;
  /** Why there is nothing left that is worth asking; null while there is. */
  settled: string | null;
  /** One sentence if the last fit failed; the clusters are those before. */
  error: string | null;
  people: { name: string; answers: number; online: boolean }[];
}

export interface ClusterState {
  id: ClusterId;
  size: number;
  /** As a person named it, or null. */
  name: string | null;
  locked: boolean;
  /** Mean margin of its rows, from 0 to 1. */
  confidence: number;
}

export interface Cluster extends ClusterState {
  /** A name made from the profile. */
  suggested: string;
  differences: { column: string; comparison: string; effect: number }[];
  words: { column: string; words: string[] }[];
  rule: string | null;
  typical: { row: Row; name: string }[];
  borderline: { row: Row; name: string; near: ClusterId }[];
}

export interface Question {
  kind: QuestionKind;
  rows: Row[];
  /** A sentence such as "Do wine084 and wine025 belong together?" */
  words: string;
  why: string;
  /** Which question of the project it is, from 1. */
  number: number;
  /** Whether somebody was asked before. */
  again: boolean;
  items: { row: Row; name: string; images: string[] }[];
  /** What differs most comes first. */
  columns: QuestionColumn[];
  more_columns: number;
  /** Classes that are known, for a label. */
  classes: string[];
}

export interface QuestionColumn {
  name: string;
  kind: ColumnKind;
  /** One for each item. */
  cells: string[];
  /** How far apart, in words ("2.1 sd", "differs", "="). */
  apart: string;
  /** Whether to mark it as a large difference. */
  large: boolean;
}

/**
 * The value of an answer. null: don't know; pair: whether they belong together; label: the class; which: the row, or
 * false for none of them; group: piles of rows (rows in no pile are left open).
 */
export type Value = boolean | string | number | Row[][] | null;

export interface Said {
  kind: QuestionKind;
  rows: Row[];
  why: string;
  value: Value;
  /** How long the question was on the screen. */
  seconds: number;
  /** Makes it safe to send an answer again: the same nonce counts once. */
  nonce: string;
}

export interface Heard {
  entry: number;
  /** What the model would have said, shown only now; null if it did not know. */
  guess: { value: Value; probability: number } | null;
  questions: Question[];
}

export interface Entry {
  id: number;
  who: string;
  when: string;
  seconds: number | null;
  kind: QuestionKind | "act";
  /** Question and answer, or what was done, as a sentence. */
  words: string;
  rows: Row[];
  value: Value;
  stands: boolean;
  broken: boolean;
  doubt: number | null;
}

export type Act =
  | { act: "name"; cluster: ClusterId; name: string }
  | { act: "lock" | "unlock"; cluster: ClusterId }
  | { act: "merge"; clusters: ClusterId[] }
  | { act: "split"; cluster: ClusterId; piles?: Row[][] }
  | { act: "belongs" | "never"; rows: Row[]; cluster: ClusterId }
  | { act: "together"; rows: Row[] };

export interface Doubts {
  suspects: { entry: number | null; words: string; rows: Row[]; right: number; kind: "must" | "cannot" | "label" }[];
  contradictions: { words: string; steps: { entry: number | null; words: string; rows: Row[] }[] }[];
  unsure: { row: Row; name: string; margin: number }[];
  /** The doctor's report, as text. */
  report: string;
}

export interface Card {
  row: Row;
  name: string;
  cluster: ClusterId | null;
  margin: number;
  cells: { column: string; kind: ColumnKind; text: string }[];
  images: string[];
  clues: { entry: number | null; words: string; broken: boolean }[];
}

export interface Link {
  rows: [Row, Row];
  must: boolean;
  broken: boolean;
  entry: number | null;
}

export interface People {
  people: { name: string; role: Role; answers: number; seconds: number | null; link: string | null; online: boolean }[];
  /** Share of the questions that both were asked and answered alike. */
  agreement: { a: string; b: string; both: number; alike: number }[];
  /** Share of a person's questions that somebody else was asked, too. */
  overlap: number;
}

export type Push =
  | { type: "state"; state: State }
  /** New questions are ready for this person. */
  | { type: "questions" }
  /** Profiles of this revision are ready. */
  | { type: "profiles"; revision: number }
  | { type: "layout"; layout: Layout }
  | { type: "entry"; entry: Entry };

/** Headers of frames. Values that stand for nothing (noise, no label) are 255 or 65535. */
export type Header =
  | { type: "layout"; id: string; rows: number }
  | { type: "labels"; revision: number; rows: number; dtype: "u8" | "u16" }
  /** Followed by uint32 rows, then their labels. */
  | { type: "changes"; revision: number; from: number; count: number; dtype: "u8" | "u16" }
  | { type: "channel"; name: ChannelName; rows: number; dtype: "u8" | "u16"; legend: string[] };
