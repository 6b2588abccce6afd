/** What lies above the points: links, rings around a few rows, the outline of the lasso. */

import type { Camera } from "./camera";
import { type Colors, css } from "./colors";
import type { Outline } from "./lasso";
import { FAR, type Scene } from "./scene";
import type { MapLink, MarkStyle } from "./types";

/** Rings that are drawn one by one in each frame; a page that marks more of a style sees the first ones. */
const MOST_RINGS = 500;
const RINGS: { style: MarkStyle; color: keyof Colors; width: number; gap: number }[] = [
  { style: "neighbor", color: "ink", width: 1.25, gap: 3 },
  { style: "question", color: "accent", width: 3, gap: 5 },
  { style: "focus", color: "ink", width: 2, gap: 9 },
];

/** Links that look alike, as rows a, b, a, b, … */
interface Bundle {
  rows: Uint32Array;
  dashed: boolean;
  broken: boolean;
}

export class Overlay {
  private bundles: Bundle[] = [];

  constructor(private readonly context: CanvasRenderingContext2D) {}

  setLinks(links: MapLink[]): void {
    const bundle = (must: boolean, broken: boolean): Bundle => {
      const chosen = links.filter((link) => link.must === must && link.broken === broken);
      return { rows: Uint32Array.from(chosen.flatMap(({ a, b }) => [a, b])), dashed: !must, broken };
    };
    // Broken ones last, above the others.
    this.bundles = [bundle(true, false), bundle(false, false), bundle(true, true), bundle(false, true)];
  }

  draw(scene: Scene, camera: Camera, ratio: number, diameter: number, colors: Colors, outline: Outline): void {
    const { context } = this;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, context.canvas.width, context.canvas.height);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    for (const bundle of this.bundles) this.drawLinks(bundle, scene, camera, colors);
    for (const { style, color, width, gap } of RINGS) {
      const radius = diameter / 2 + gap;
      // A wider ring of paper below keeps the ring visible on points of any color.
      for (const [stroke, thickness] of [[css(colors.paper), width + 2], [css(colors[color]), width]] as const) {
        this.drawRings(scene.marks[style], scene, camera, radius, stroke, thickness);
      }
    }
    if (outline.length > 2) this.drawOutline(outline, camera, colors);
  }

  private drawLinks(bundle: Bundle, scene: Scene, camera: Camera, colors: Colors): void {
    const { context } = this;
    const { xy } = scene;
    const { width, height } = camera;
    context.beginPath();
    for (let i = 0; i < bundle.rows.length; i += 2) {
      const [a, b] = [bundle.rows[i]!, bundle.rows[i + 1]!];
      if (a >= scene.count || b >= scene.count || xy[2 * a] === FAR || xy[2 * b] === FAR) continue;
      const [x1, y1] = [camera.screenX(xy[2 * a]!), camera.screenY(xy[2 * a + 1]!)];
      const [x2, y2] = [camera.screenX(xy[2 * b]!), camera.screenY(xy[2 * b + 1]!)];
      if ((x1 < 0 && x2 < 0) || (x1 > width && x2 > width) || (y1 < 0 && y2 < 0) || (y1 > height && y2 > height)) continue;
      context.moveTo(x1, y1);
      context.lineTo(x2, y2);
    }
    context.setLineDash(bundle.dashed ? [5, 4] : []);
    context.lineWidth = bundle.broken ? 2 : 1.25;
    context.strokeStyle = css(bundle.broken ? colors.broken : colors.link, bundle.broken ? 0.9 : 0.7);
    context.stroke();
    context.setLineDash([]);
  }

  private drawRings(
    rows: Uint32Array,
    scene: Scene,
    camera: Camera,
    radius: number,
    stroke: string,
    thickness: number,
  ): void {
    const { context } = this;
    context.beginPath();
    for (let i = 0; i < Math.min(rows.length, MOST_RINGS); i++) {
      const [x, y] = [scene.xy[2 * rows[i]!]!, scene.xy[2 * rows[i]! + 1]!];
      if (x === FAR) continue;
      const [left, top] = [camera.screenX(x), camera.screenY(y)];
      context.moveTo(left + radius, top);
      context.arc(left, top, radius, 0, 2 * Math.PI);
    }
    context.strokeStyle = stroke;
    context.lineWidth = thickness;
    context.stroke();
  }

  private drawOutline(outline: Outline, camera: Camera, colors: Colors): void {
    const { context } = this;
    context.beginPath();
    for (let i = 0; i < outline.length; i += 2) {
      context.lineTo(camera.screenX(outline[i]!), camera.screenY(outline[i + 1]!));
    }
    context.closePath();
    context.fillStyle = css(colors.accent, 0.12);
    context.fill();
    context.strokeStyle = css(colors.accent);
    context.lineWidth = 1.5;
    context.stroke();
  }
}
