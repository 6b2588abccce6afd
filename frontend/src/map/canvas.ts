/** Points by a plain canvas, for browsers without WebGL2 and maps that are not large. Colors change at once. */

import { colorsFor, css, type Rgb } from "./colors";
import type { Frame, Layer } from "./layer";
import { FOUND, HOLLOW, KNOWN, type Scene, SELECTED } from "./scene";
import type { Look } from "./types";

type Shape = Look["shape"];

export function createCanvasLayer(canvas: HTMLCanvasElement): Layer {
  const context = canvas.getContext("2d")!;
  return {
    backend: "canvas",
    load() {}, // each frame reads the scene
    draw(scene, frame) {
      draw(context, scene, frame);
      return true;
    },
    destroy() {},
  };
}

function draw(context: CanvasRenderingContext2D, scene: Scene, frame: Frame): void {
  const { width, height, ratio } = frame;
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, context.canvas.width, context.canvas.height);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  const sprites = new Map<number, HTMLCanvasElement>();
  const beyond = 2 * frame.diameter;
  const point = (row: number): void => {
    const x = (scene.xy[2 * row]! - frame.x) * frame.scale + width / 2;
    const y = (frame.y - scene.xy[2 * row + 1]!) * frame.scale + height / 2;
    if (x < -beyond || x > width + beyond || y < -beyond || y > height + beyond) return;
    const value = scene.states[row]! >>> 16;
    const flags = scene.flags[row]!;
    const key = value * 4 + (flags & (KNOWN | HOLLOW));
    let picture = sprites.get(key);
    if (picture === undefined) sprites.set(key, (picture = sprite(scene.looks[value] ?? null, flags, frame)));
    const side = picture.width / ratio;
    context.globalAlpha = frame.dim && !(flags & SELECTED) ? 0.3 * frame.opacity : frame.opacity;
    context.drawImage(picture, x - side / 2, y - side / 2, side, side);
  };
  for (let row = 0; row < scene.count; row++) point(row);
  for (const row of scene.front) {
    point(row);
    mark(context, scene, frame, row);
  }
  context.globalAlpha = 1;
}

/** One point as a picture, because copying pictures is several times faster than drawing shapes. */
function sprite(look: Look | null, flags: number, frame: Frame): HTMLCanvasElement {
  const colors = colorsFor(frame.dark);
  const color = css(look?.color ?? colors.gray);
  const radius = frame.diameter / 2;
  const rim = Math.max(1, 0.3 * radius);
  const side = Math.ceil((2.5 * radius + 2) * frame.ratio);
  const picture = document.createElement("canvas");
  picture.width = picture.height = side;
  const context = picture.getContext("2d")!;
  context.translate(side / 2, side / 2);
  context.scale(frame.ratio, frame.ratio);
  const shape: Shape = look?.shape ?? "disc";
  trace(context, shape, radius);
  context.fillStyle = color;
  context.globalAlpha = flags & HOLLOW ? 0.1 : 1;
  context.fill("evenodd");
  context.globalAlpha = 1;
  if (flags & (HOLLOW | KNOWN)) {
    context.clip("evenodd");
    context.lineWidth = 2 * rim; // the half of it that is inside
    context.strokeStyle = flags & KNOWN ? css(colors.ink) : color;
    context.stroke();
  }
  return picture;
}

function trace(context: CanvasRenderingContext2D, shape: Shape, radius: number): void {
  const corners: Record<Exclude<Shape, "disc" | "ring">, [number, number][]> = {
    square: [[-0.87, -0.87], [0.87, -0.87], [0.87, 0.87], [-0.87, 0.87]],
    triangle: [[0, -1.24], [1.07, 0.62], [-1.07, 0.62]],
    diamond: [[0, -1.19], [1.19, 0], [0, 1.19], [-1.19, 0]],
  };
  context.beginPath();
  if (shape === "disc" || shape === "ring") {
    context.arc(0, 0, radius, 0, 2 * Math.PI);
    if (shape === "ring") {
      context.moveTo(0.4 * radius, 0);
      context.arc(0, 0, 0.4 * radius, 0, 2 * Math.PI);
    }
    return;
  }
  for (const [x, y] of corners[shape]) context.lineTo(x * radius, y * radius);
  context.closePath();
}

/** The ring of a row that is found, changed or selected. */
function mark(context: CanvasRenderingContext2D, scene: Scene, frame: Frame, row: number): void {
  const colors = colorsFor(frame.dark);
  const flags = scene.flags[row]!;
  const state = scene.states[row]!;
  const changed = (state & 0xffff) !== state >>> 16;
  let color: Rgb;
  let strength = 1;
  if (flags & FOUND) color = colors.found;
  else if (changed && (frame.ring || frame.glow > 0)) {
    color = colors.ink;
    strength = frame.ring ? 1 : frame.glow;
  } else if (flags & SELECTED && frame.diameter >= 4) color = colors.accent;
  else return;
  const x = (scene.xy[2 * row]! - frame.x) * frame.scale + frame.width / 2;
  const y = (frame.y - scene.xy[2 * row + 1]!) * frame.scale + frame.height / 2;
  context.globalAlpha = strength;
  context.strokeStyle = css(color);
  context.lineWidth = 2;
  context.beginPath();
  context.arc(x, y, frame.diameter / 2 + 3, 0, 2 * Math.PI);
  context.stroke();
}
