/** What draws the points: WebGL, or a plain canvas where there is none. */

import type { Scene } from "./scene";

/** What of the scene has changed. */
export type Part = "points" | "values" | "flags" | "front";

/** All that differs from frame to frame. */
export interface Frame {
  /** Pixels of CSS, and device pixels for each of them. */
  width: number;
  height: number;
  ratio: number;
  /** The place in the middle, and pixels of CSS per unit. */
  x: number;
  y: number;
  scale: number;
  /** Of a point, in pixels of CSS. */
  diameter: number;
  opacity: number;
  /** From the looks before (0) to those of now (1). */
  mix: number;
  /** How strongly changed rows glow, from 1 to 0. */
  glow: number;
  /** Whether changed rows have a ring. */
  ring: boolean;
  /** Whether rows that are not selected step back. */
  dim: boolean;
  dark: boolean;
}

export interface Layer {
  readonly backend: "webgl2" | "canvas";
  /** Take over what has changed. */
  load(part: Part, scene: Scene): void;
  /** Draw, and return whether it was possible. */
  draw(scene: Scene, frame: Frame): boolean;
  destroy(): void;
}

/** Points cover about the same share of the map however many there are, grow slowly with the zoom and stay small in a strip. */
export function diameterOf(count: number, width: number, height: number, zoom: number): number {
  const spacing = Math.sqrt((width * height) / Math.max(count, 1));
  const largest = Math.min(11, Math.max(4, Math.min(width, height) / 24));
  return Math.min(Math.max(0.55 * spacing * Math.sqrt(zoom), 1.8), largest);
}
