/** Finds rows by place: points in cells, sorted by counting, so that a look at a place touches few points. */

import type { Row } from "../api";
import type { Box } from "./camera";
import { FAR } from "./scene";

const PER_CELL = 4;
const MOST_CELLS = 512;
/** Of this many points the cells' extent is taken; a few far ones must not push all others into one cell. */
const SAMPLE = 4096;
const TRIMMED = 0.005;
/** More points in one place than this are not told apart by picking. */
const MOST_LOOKED_AT = 20_000;

export class Grid {
  /** Rows by cell: those of cell c are `rows[starts[c]]` to `rows[starts[c + 1] - 1]`. */
  readonly rows: Uint32Array;
  readonly starts: Uint32Array;
  /** Cells along each axis. */
  readonly cells: number;
  private readonly box: Box;
  private readonly perX: number;
  private readonly perY: number;

  constructor(private readonly xy: Float32Array) {
    const count = xy.length >> 1;
    this.cells = Math.min(Math.max(Math.ceil(Math.sqrt(count / PER_CELL)), 1), MOST_CELLS);
    this.box = usualBox(xy);
    this.perX = this.cells / Math.max(this.box.right - this.box.left, 1e-12);
    this.perY = this.cells / Math.max(this.box.top - this.box.bottom, 1e-12);
    const cellOf = new Uint32Array(count);
    const starts = new Uint32Array(this.cells * this.cells + 2);
    const none = this.cells * this.cells;
    for (let row = 0; row < count; row++) {
      const x = xy[2 * row]!;
      const cell = x === FAR ? none : this.row(xy[2 * row + 1]!) * this.cells + this.column(x);
      cellOf[row] = cell;
      starts[cell + 1]!++;
    }
    for (let cell = 0; cell <= none; cell++) starts[cell + 1]! += starts[cell]!;
    const next = starts.slice();
    const rows = new Uint32Array(count);
    for (let row = 0; row < count; row++) rows[next[cellOf[row]!]!++] = row;
    this.rows = rows;
    this.starts = starts;
  }

  /** The column of cells of x; places outside belong to the outermost one. */
  column(x: number): number {
    return Math.min(Math.max(Math.floor((x - this.box.left) * this.perX), 0), this.cells - 1);
  }

  row(y: number): number {
    return Math.min(Math.max(Math.floor((y - this.box.bottom) * this.perY), 0), this.cells - 1);
  }

  /** Middle of a cell. */
  middle(column: number, row: number): [number, number] {
    return [this.box.left + (column + 0.5) / this.perX, this.box.bottom + (row + 0.5) / this.perY];
  }

  /** How many cells two places are apart, along the axis on which these are more. */
  cellsBetween(x1: number, y1: number, x2: number, y2: number): number {
    return Math.max(Math.abs(x2 - x1) * this.perX, Math.abs(y2 - y1) * this.perY);
  }

  /** The part of a line that is in the cells, or null if it passes them by. */
  clip(x1: number, y1: number, x2: number, y2: number): [number, number, number, number] | null {
    let [from, to] = [0, 1];
    const { left, right, bottom, top } = this.box;
    for (const [start, step, low, high] of [
      [x1, x2 - x1, left, right],
      [y1, y2 - y1, bottom, top],
    ] as const) {
      if (step === 0) {
        if (start < low || start > high) return null;
        continue;
      }
      const [a, b] = [(low - start) / step, (high - start) / step];
      from = Math.max(from, Math.min(a, b));
      to = Math.min(to, Math.max(a, b));
    }
    if (from > to) return null;
    return [x1 + from * (x2 - x1), y1 + from * (y2 - y1), x1 + to * (x2 - x1), y1 + to * (y2 - y1)];
  }

  /** The row nearest to a place within a radius, of equally near ones the last; null if there is none. */
  nearest(x: number, y: number, radius: number): Row | null {
    const [column, row] = [this.column(x), this.row(y)];
    const [left, right] = [this.column(x - radius), this.column(x + radius)];
    const [bottom, top] = [this.row(y - radius), this.row(y + radius)];
    const rings = Math.max(column - left, right - column, row - bottom, top - row);
    const side = Math.min(1 / this.perX, 1 / this.perY);
    const best = { row: -1, square: radius * radius, looked: 0 };
    // Rings of cells around the place, from the inside: what is found soon ends the search.
    for (let ring = 0; ring <= rings && best.looked < MOST_LOOKED_AT; ring++) {
      const nearestInRing = (ring - 1) * side;
      if (best.row >= 0 && nearestInRing > 0 && nearestInRing * nearestInRing > best.square) break;
      for (let r = Math.max(row - ring, bottom); r <= Math.min(row + ring, top); r++) {
        const whole = Math.abs(r - row) === ring;
        const step = whole || ring === 0 ? 1 : 2 * ring;
        for (let c = column - ring; c <= column + ring; c += step) {
          if (c >= left && c <= right) this.look(r * this.cells + c, x, y, best);
        }
      }
    }
    return best.row < 0 ? null : best.row;
  }

  private look(cell: number, x: number, y: number, best: { row: number; square: number; looked: number }): void {
    const end = Math.min(this.starts[cell + 1]!, this.starts[cell]! + MOST_LOOKED_AT);
    for (let i = this.starts[cell]!; i < end; i++) {
      const row = this.rows[i]!;
      const dx = this.xy[2 * row]! - x;
      const dy = this.xy[2 * row + 1]! - y;
      const square = dx * dx + dy * dy;
      if (square < best.square || (square === best.square && row > best.row)) {
        best.row = row;
        best.square = square;
      }
    }
    best.looked += end - this.starts[cell]!;
  }
}

/** The box of most points, judged by a sample. */
function usualBox(xy: Float32Array): Box {
  const stride = Math.max(Math.floor((xy.length >> 1) / SAMPLE), 1);
  const xs: number[] = [];
  const ys: number[] = [];
  for (let i = 0; i < xy.length; i += 2 * stride) {
    if (xy[i] === FAR) continue;
    xs.push(xy[i]!);
    ys.push(xy[i + 1]!);
  }
  const [left, right] = ends(xs);
  const [bottom, top] = ends(ys);
  return { left, right, bottom, top };
}

function ends(values: number[]): [number, number] {
  if (values.length === 0) return [-1, 1];
  const sorted = Float64Array.from(values).sort();
  const trim = Math.floor(sorted.length * TRIMMED);
  return [sorted[trim]!, sorted[sorted.length - 1 - trim]!];
}
