/** What is to be drawn, in the arrays that the layers draw from: positions, values, flags. */

import type { Row } from "../api";
import type { Box } from "./camera";
import type { Look, MarkStyle } from "./types";

/** Bits of `flags`. */
export const KNOWN = 1;
export const HOLLOW = 2;
export const SELECTED = 4;
export const FOUND = 8;

/** Where rows without finite coordinates are put: never in view, never picked. */
export const FAR = 1e9;
/** Drawn gray, whatever the looks. */
const NOTHING = 0xffff;
/** Axes whose spans differ more are scaled each on its own, as two columns with different units need. */
const MOST_UNEQUAL = 4;
const NOWHERE: Box = { left: -1, bottom: -1, right: 1, top: 1 };
/** Later ones are drawn above earlier ones. */
const ORDER: MarkStyle[] = ["selected", "found", "neighbor", "focus", "question"];

export class Scene {
  count = 0;
  /** World coordinates: x and y of each row, the longer side of all of them from −1 to 1. */
  xy = new Float32Array(0);
  bounds: Box = NOWHERE;
  /** Low 16 bits: the value before the last change; high 16 bits: the value now. */
  states = new Uint32Array(0);
  flags = new Uint8Array(0);
  /** How values looked before the last change, and how they look now. */
  before: Look[] = [];
  looks: Look[] = [];
  /** Rows of the last `change` whose values differ. */
  changed = new Uint32Array(0);
  /** Rows that are drawn again above all others. */
  front = new Uint32Array(0);
  marks: Record<MarkStyle, Uint32Array> = {
    question: new Uint32Array(0),
    focus: new Uint32Array(0),
    neighbor: new Uint32Array(0),
    found: new Uint32Array(0),
    selected: new Uint32Array(0),
  };
  private axes = { x: 0, y: 0, perX: 1, perY: 1 };
  private valued = false;

  setPoints(given: Float32Array, keepAxes: boolean): void {
    const count = given.length >> 1;
    if (!keepAxes || this.count === 0) this.axes = axesOf(boxOf(given));
    const { x, y, perX, perY } = this.axes;
    const xy = new Float32Array(2 * count);
    for (let i = 0; i < 2 * count; i += 2) {
      const finite = Number.isFinite(given[i]) && Number.isFinite(given[i + 1]);
      xy[i] = finite ? (given[i]! - x) * perX : FAR;
      xy[i + 1] = finite ? (given[i + 1]! - y) * perY : FAR;
    }
    this.xy = xy;
    const box = boxOf(xy);
    this.bounds = box.left <= box.right ? box : NOWHERE;
    if (count === this.count) return;
    this.count = count;
    this.states = new Uint32Array(count).fill(NOTHING | (NOTHING << 16));
    this.flags = new Uint8Array(count);
    this.valued = false;
    this.changed = new Uint32Array(0);
    for (const style of ORDER) this.marks[style] = new Uint32Array(0);
    this.arrangeFront();
  }

  /** Returns whether there is something to animate from. */
  setValues(values: Uint8Array | Uint16Array, looks: Look[]): boolean {
    const animate = this.valued;
    const { states, count } = this;
    const given = Math.min(values.length, count);
    for (let row = 0; row < given; row++) {
      const value = values[row]!;
      states[row] = animate ? (states[row]! >>> 16) | (value << 16) : value | (value << 16);
    }
    for (let row = given; row < count; row++) states[row] = (states[row]! >>> 16) | (NOTHING << 16);
    this.before = animate ? this.looks : looks;
    this.looks = looks;
    this.valued = true;
    this.changed = new Uint32Array(0);
    this.arrangeFront();
    return animate;
  }

  change(rows: Uint32Array, values: Uint8Array | Uint16Array): void {
    const { states } = this;
    for (let row = 0; row < states.length; row++) {
      const now = states[row]! >>> 16;
      states[row] = now | (now << 16);
    }
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i]!;
      if (row < this.count) states[row] = (states[row]! & 0xffff) | (values[i]! << 16);
    }
    this.before = this.looks;
    this.changed = rows.filter((row) => row < this.count && (states[row]! & 0xffff) !== states[row]! >>> 16);
    this.arrangeFront();
  }

  setRims(known: Uint8Array | null, hollow: Uint8Array | null): void {
    const { flags } = this;
    for (let row = 0; row < flags.length; row++) {
      flags[row] = (flags[row]! & ~(KNOWN | HOLLOW)) | (known?.[row] ? KNOWN : 0) | (hollow?.[row] ? HOLLOW : 0);
    }
  }

  setMarks(style: MarkStyle, rows: ArrayLike<Row>): void {
    const marks = new Uint32Array(rows.length);
    let count = 0;
    for (let i = 0; i < rows.length; i++) if (rows[i]! < this.count) marks[count++] = rows[i]!;
    this.marks[style] = marks.subarray(0, count);
    const flag = style === "selected" ? SELECTED : style === "found" ? FOUND : 0;
    if (flag) {
      for (let row = 0; row < this.flags.length; row++) this.flags[row]! &= ~flag;
      for (let i = 0; i < count; i++) this.flags[marks[i]!]! |= flag;
    }
    this.arrangeFront();
  }

  /** The box of some rows, or null if none of them has a place. */
  boxOfRows(rows: ArrayLike<Row>): Box | null {
    const placed = new Float32Array(2 * rows.length);
    for (let i = 0; i < rows.length; i++) placed.set(this.xy.subarray(2 * rows[i]!, 2 * rows[i]! + 2), 2 * i);
    const box = boxOf(placed);
    return box.left <= box.right ? box : null;
  }

  private arrangeFront(): void {
    const lists = ORDER.map((style) => this.marks[style]);
    lists.splice(2, 0, this.changed);
    this.front = new Uint32Array(lists.reduce((sum, list) => sum + list.length, 0));
    let at = 0;
    for (const list of lists) {
      this.front.set(list, at);
      at += list.length;
    }
  }
}

/** The box of all finite places; upside down if there are none. */
function boxOf(xy: Float32Array): Box {
  const box = { left: Infinity, bottom: Infinity, right: -Infinity, top: -Infinity };
  for (let i = 0; i < xy.length; i += 2) {
    const x = xy[i]!;
    const y = xy[i + 1]!;
    if (!Number.isFinite(x) || !Number.isFinite(y) || x === FAR) continue;
    if (x < box.left) box.left = x;
    if (x > box.right) box.right = x;
    if (y < box.bottom) box.bottom = y;
    if (y > box.top) box.top = y;
  }
  return box;
}

function axesOf(box: Box): { x: number; y: number; perX: number; perY: number } {
  const [width, height] = [Math.max(box.right - box.left, 0), Math.max(box.top - box.bottom, 0)];
  const longest = Math.max(width, height);
  const unequal = width > MOST_UNEQUAL * height || height > MOST_UNEQUAL * width;
  const per = (span: number): number => (unequal && span > 0 ? 2 / span : longest > 0 ? 2 / longest : 1);
  const middle = (low: number, high: number): number => (low <= high ? low / 2 + high / 2 : 0);
  return { x: middle(box.left, box.right), y: middle(box.bottom, box.top), perX: per(width), perY: per(height) };
}
