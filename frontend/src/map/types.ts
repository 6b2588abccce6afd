/** The map of all rows: what the page asks of it, whatever draws it. */

import type { Row } from "../api";

/** How the points of one value look: a color, and a shape that tells colors apart that look alike. */
export interface Look {
  color: [number, number, number];
  shape: "disc" | "square" | "triangle" | "diamond" | "ring";
}

export interface MapCallbacks {
  /** The pointer is over a row, at page coordinates; null: over none. */
  onHover(row: Row | null, x: number, y: number): void;
  onClick(row: Row | null): void;
  /** Rows in the lasso, after meta (adds) and alt (removes) were applied. */
  onSelect(rows: Uint32Array): void;
}

export interface MapOptions {
  reducedMotion: boolean;
  dark: boolean;
}

export type MarkStyle = "question" | "focus" | "neighbor" | "found" | "selected";

export interface MapLink {
  a: Row;
  b: Row;
  must: boolean;
  broken: boolean;
}

export interface MapView {
  /** Coordinates x, y of all rows; the view fits them unless `keepView`. */
  setPoints(xy: Float32Array, keepView?: boolean): void;
  /** One value per row, and how each value looks (`looks[value]`; values beyond are drawn gray). Colors animate. */
  setValues(values: Uint8Array | Uint16Array, looks: Look[]): void;
  /** New values of a few rows, which glow for 800 ms (with reduced motion: get a ring until the next change). */
  changeValues(rows: Uint32Array, values: Uint8Array | Uint16Array): void;
  /** Rows whose points are drawn hollow (doubt) or with a filled rim (known label); null: none. */
  setRims(known: Uint8Array | null, hollow: Uint8Array | null): void;
  setMarks(style: MarkStyle, rows: ArrayLike<Row>): void;
  setLinks(links: MapLink[]): void;
  setOptions(options: MapOptions): void;
  /** Move so that these rows are in view. */
  show(rows: ArrayLike<Row>): void;
  fit(): void;
  /** Keyboard: pan by a share of the view, zoom by a factor. */
  pan(dx: number, dy: number): void;
  zoom(factor: number): void;
  /** Script time of the last frame and of the last change of values, for tests and the curious. */
  stats(): { backend: "webgl2" | "canvas" | "none"; points: number; frame_ms: number; values_ms: number };
  destroy(): void;
}

export type CreateMap = (host: HTMLElement, callbacks: MapCallbacks, options: MapOptions) => MapView;
