/** Which rows lie in a drawn outline. */

import type { Row } from "../api";
import type { Grid } from "./grid";

/** Corners in world coordinates: x, y, x, y, … */
export type Outline = number[];

export type LassoMode = "replace" | "add" | "remove";

/** Whether a place is inside, by the even-odd rule. */
export function isInside(outline: Outline, x: number, y: number): boolean {
  let inside = false;
  const length = outline.length;
  for (let i = 0, j = length - 2; i < length; j = i, i += 2) {
    const y1 = outline[i + 1]!;
    const y2 = outline[j + 1]!;
    if (y1 > y === y2 > y) continue;
    const x1 = outline[i]!;
    if (x < ((outline[j]! - x1) * (y - y1)) / (y2 - y1) + x1) inside = !inside;
  }
  return inside;
}

/** Which rows are inside (1). Only points in cells near the outline are looked at; other cells are in or out whole. */
export function rowsInside(outline: Outline, grid: Grid, xy: Float32Array): Uint8Array {
  const found = new Uint8Array(grid.rows.length);
  const { cells } = grid;
  const near = cellsNear(outline, grid);
  const span = extent(outline);
  const [left, right] = [grid.column(span.left), grid.column(span.right)];
  const [bottom, top] = [grid.row(span.bottom), grid.row(span.top)];
  for (let r = bottom; r <= top; r++) {
    let whole: boolean | null = null;
    for (let c = left; c <= right; c++) {
      const cell = r * cells + c;
      const end = grid.starts[cell + 1]!;
      if (near[cell]) {
        whole = null;
        for (let i = grid.starts[cell]!; i < end; i++) {
          const row = grid.rows[i]!;
          if (isInside(outline, xy[2 * row]!, xy[2 * row + 1]!)) found[row] = 1;
        }
        continue;
      }
      // From one cell to the next it changes only across the outline.
      whole ??= isInside(outline, ...grid.middle(c, r));
      if (whole) for (let i = grid.starts[cell]!; i < end; i++) found[grid.rows[i]!] = 1;
    }
  }
  return found;
}

/** The selection after a lasso, ascending. */
export function combine(selected: ArrayLike<Row>, inside: Uint8Array, mode: LassoMode): Uint32Array {
  const chosen = mode === "replace" ? inside : new Uint8Array(inside.length);
  if (mode !== "replace") {
    for (let i = 0; i < selected.length; i++) chosen[selected[i]!] = 1;
    for (let row = 0; row < inside.length; row++) if (inside[row]) chosen[row] = mode === "add" ? 1 : 0;
  }
  const rows = new Uint32Array(inside.length);
  let count = 0;
  for (let row = 0; row < chosen.length; row++) if (chosen[row]) rows[count++] = row;
  return rows.slice(0, count);
}

/** Marks the cells through which the outline may go, and the outermost ones, which hold what lies beyond them. */
function cellsNear(outline: Outline, grid: Grid): Uint8Array {
  const { cells } = grid;
  const near = new Uint8Array(cells * cells);
  for (let i = 0; i < cells; i++) {
    near[i] = near[(cells - 1) * cells + i] = near[i * cells] = near[i * cells + cells - 1] = 1;
  }
  const length = outline.length;
  for (let i = 0, j = length - 2; i < length; j = i, i += 2) {
    const line = grid.clip(outline[j]!, outline[j + 1]!, outline[i]!, outline[i + 1]!);
    if (line === null) continue;
    const [x1, y1, x2, y2] = line;
    // Steps of half a cell, each with the cells around it: none that the line crosses is missed.
    const steps = Math.ceil(2 * grid.cellsBetween(x1, y1, x2, y2)) + 1;
    for (let step = 0; step <= steps; step++) {
      const share = step / steps;
      const [column, row] = [grid.column(x1 + share * (x2 - x1)), grid.row(y1 + share * (y2 - y1))];
      for (let r = Math.max(row - 1, 0); r <= Math.min(row + 1, cells - 1); r++) {
        near.fill(1, r * cells + Math.max(column - 1, 0), r * cells + Math.min(column + 1, cells - 1) + 1);
      }
    }
  }
  return near;
}

function extent(outline: Outline): { left: number; right: number; bottom: number; top: number } {
  const span = { left: Infinity, right: -Infinity, bottom: Infinity, top: -Infinity };
  for (let i = 0; i < outline.length; i += 2) {
    span.left = Math.min(span.left, outline[i]!);
    span.right = Math.max(span.right, outline[i]!);
    span.bottom = Math.min(span.bottom, outline[i + 1]!);
    span.top = Math.max(span.top, outline[i + 1]!);
  }
  return span;
}
