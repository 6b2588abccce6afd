/** The map: puts together what draws, what finds rows and what people do. */

import type { Row } from "../api";
import { Flight, Frames, Progress } from "./animation";
import { Camera, type Place } from "./camera";
import { createCanvasLayer } from "./canvas";
import { colorsFor } from "./colors";
import { type Gestures, listen, type Spot } from "./gestures";
import { Grid } from "./grid";
import { combine, type LassoMode, type Outline, rowsInside } from "./lasso";
import { diameterOf, type Frame, type Layer, type Part } from "./layer";
import { Overlay } from "./overlay";
import { Scene } from "./scene";
import type { CreateMap, Look, MapCallbacks, MapLink, MapOptions, MapView, MarkStyle } from "./types";
import { createWebglLayer } from "./webgl";

/** More points than this are not drawn without WebGL2. */
const MOST_WITHOUT_WEBGL = 50_000;
/** How far from a point, in pixels, still counts as on it. */
const REACH = 8;
const BY_FINGER = 16;
/** More points than this are drawn a little transparent, so that dense places look dense. */
const MANY = 200_000;

export const createMap: CreateMap = (host, callbacks, options) => new PointMap(host, callbacks, options);

class PointMap implements MapView {
  private readonly scene = new Scene();
  private readonly camera = new Camera();
  private readonly flight = new Flight(this.camera);
  private readonly recoloring = new Progress(250);
  private readonly glowing = new Progress(800);
  private readonly frames = new Frames((now) => this.drawFrame(now));
  private readonly listening = new AbortController();
  private readonly resizing: ResizeObserver;
  private readonly points: HTMLCanvasElement;
  private readonly above: HTMLCanvasElement;
  private readonly overlay: Overlay;
  /** Null if the browser has no WebGL2 and there are too many points for a plain canvas. */
  private layer: Layer | null;
  private grid = new Grid(this.scene.xy);
  private outline: Outline = [];
  private hovered: Row | null = null;
  private ringed = false;
  /** What the next frame has to draw; while only colors change, the overlay stays as it is, and so on. */
  private readonly stale = { points: true, above: true };
  private frameCount = 0;
  private frameTime = 0;
  private valuesTime = 0;

  constructor(
    private readonly host: HTMLElement,
    private readonly callbacks: MapCallbacks,
    private options: MapOptions,
  ) {
    if (getComputedStyle(host).position === "static") host.style.position = "relative";
    this.points = addCanvas(host);
    this.layer = createWebglLayer(this.points, this.scene, () => this.redraw());
    if (this.layer === null) {
      // A canvas whose WebGL failed half-way has no other context to give.
      this.points.remove();
      this.points = addCanvas(host);
      this.layer = createCanvasLayer(this.points);
    }
    this.above = addCanvas(host);
    this.overlay = new Overlay(this.above.getContext("2d")!);
    this.resizing = new ResizeObserver(() => this.resize());
    this.resizing.observe(host);
    this.resize();
    const gestures: Gestures = {
      pan: (dx, dy) => this.move(() => this.camera.panBy(dx, dy)),
      zoomAt: (x, y, factor) => this.move(() => this.camera.zoomAt(x, y, factor)),
      hover: (at) => this.hover(at),
      click: (x, y, finger) => callbacks.onClick(this.pick(x, y, finger ? BY_FINGER : REACH)),
      lasso: (x, y) => this.lasso(x, y),
      lassoEnd: (mode) => this.lassoEnd(mode),
    };
    listen(this.above, gestures, this.listening.signal);
  }

  setPoints(xy: Float32Array, keepView = false): void {
    const first = this.scene.count === 0;
    const renewed = xy.length >> 1 !== this.scene.count;
    this.scene.setPoints(xy, keepView);
    if (this.layer?.backend !== "webgl2") {
      const few = this.scene.count < MOST_WITHOUT_WEBGL;
      this.layer = few ? (this.layer ?? createCanvasLayer(this.points)) : null;
    }
    this.grid = new Grid(this.scene.xy);
    this.camera.setBounds(this.scene.bounds);
    this.flight.stop();
    if (first || !keepView || this.camera.fitted) this.camera.fit();
    this.load("points");
    if (renewed) {
      this.settle();
      this.load("values", "flags", "front");
    }
    this.hover(null);
    this.redraw();
  }

  setValues(values: Uint8Array | Uint16Array, looks: Look[]): void {
    const begin = performance.now();
    this.settle();
    const animate = this.scene.setValues(values, looks) && !this.options.reducedMotion;
    this.load("values", "front");
    if (animate) this.recoloring.start(begin);
    this.redraw("points");
    this.valuesTime = performance.now() - begin;
  }

  changeValues(rows: Uint32Array, values: Uint8Array | Uint16Array): void {
    const begin = performance.now();
    this.settle();
    this.scene.change(rows, values);
    this.load("values", "front");
    if (this.options.reducedMotion) this.ringed = true;
    else {
      this.recoloring.start(begin);
      this.glowing.start(begin);
    }
    this.redraw("points");
    this.valuesTime = performance.now() - begin;
  }

  setRims(known: Uint8Array | null, hollow: Uint8Array | null): void {
    this.scene.setRims(known, hollow);
    this.load("flags");
    this.redraw("points");
  }

  setMarks(style: MarkStyle, rows: ArrayLike<Row>): void {
    this.scene.setMarks(style, rows);
    this.load("flags", "front");
    this.redraw();
  }

  setLinks(links: MapLink[]): void {
    this.overlay.setLinks(links);
    this.redraw("above");
  }

  setOptions(options: MapOptions): void {
    if (options.reducedMotion) {
      this.recoloring.finish();
      this.glowing.finish();
    }
    this.options = options;
    this.redraw();
  }

  show(rows: ArrayLike<Row>): void {
    const box = this.scene.boxOfRows(rows);
    const place = box && this.camera.placeToShow(box);
    if (place === null) return;
    if (this.options.reducedMotion) this.move(() => this.camera.put(place));
    else this.fly(place, () => {});
  }

  fit(): void {
    if (this.options.reducedMotion) this.move(() => this.camera.fit());
    else this.fly(this.camera.whole(), () => this.camera.fit());
  }

  pan(dx: number, dy: number): void {
    this.move(() => this.camera.panBy(-dx * this.camera.width, -dy * this.camera.height));
  }

  zoom(factor: number): void {
    this.move(() => this.camera.zoomAt(this.camera.width / 2, this.camera.height / 2, factor));
  }

  stats(): ReturnType<MapView["stats"]> {
    return {
      backend: this.layer?.backend ?? "none",
      points: this.scene.count,
      frame_ms: this.frameTime,
      values_ms: this.valuesTime,
    };
  }

  destroy(): void {
    this.frames.stop();
    this.resizing.disconnect();
    this.listening.abort();
    this.layer?.destroy();
    this.points.remove();
    this.above.remove();
    delete this.host.dataset.ready;
    delete this.host.dataset.frame;
  }

  private move(change: () => void): void {
    this.flight.stop();
    change();
    this.hover(null);
    this.redraw();
  }

  private fly(to: Place, arrived: () => void): void {
    this.hover(null);
    this.flight.start(to, performance.now(), arrived);
    this.redraw();
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.host;
    if (clientWidth === this.camera.width && clientHeight === this.camera.height) return;
    this.camera.resize(clientWidth, clientHeight);
    this.redraw();
  }

  /** Draw before the next paint: everything, or only one of the two. */
  private redraw(what?: "points" | "above"): void {
    if (what !== "above") this.stale.points = true;
    if (what !== "points") this.stale.above = true;
    this.frames.request();
  }

  private load(...parts: Part[]): void {
    for (const part of parts) this.layer?.load(part, this.scene);
  }

  /** End what the last change of values set in motion. */
  private settle(): void {
    this.recoloring.finish();
    this.glowing.finish();
    this.ringed = false;
  }

  private pick(x: number, y: number, reach: number): Row | null {
    const { camera } = this;
    if (this.layer === null) return null;
    return this.grid.nearest(camera.worldX(x), camera.worldY(y), reach / camera.scale);
  }

  private hover(at: Spot | null): void {
    const row = at && this.pick(at.x, at.y, REACH);
    if (row === this.hovered) return;
    this.hovered = row;
    this.above.style.cursor = row === null ? "grab" : "pointer";
    this.callbacks.onHover(row, at?.pageX ?? 0, at?.pageY ?? 0);
  }

  private lasso(x: number, y: number): void {
    this.outline.push(this.camera.worldX(x), this.camera.worldY(y));
    this.redraw("above");
  }

  private lassoEnd(mode: LassoMode | null): void {
    const { outline, scene } = this;
    this.outline = [];
    this.redraw("above");
    if (mode === null || this.layer === null) return;
    const inside = rowsInside(outline, this.grid, scene.xy);
    const selected = combine(scene.marks.selected, inside, mode);
    this.setMarks("selected", selected);
    this.callbacks.onSelect(selected);
  }

  /** Returns whether something still moves. */
  private drawFrame(now: number): boolean {
    const { host, camera, scene, stale } = this;
    if (scene.count === 0 || camera.width === 0 || camera.height === 0) return false;
    const flying = this.flight.step(now);
    const ratio = window.devicePixelRatio;
    for (const canvas of [this.points, this.above]) {
      if (sizeCanvas(canvas, camera, ratio)) stale.points = stale.above = true;
    }
    const frame = this.frameAt(now, ratio);
    const changing = frame.mix < 1 || frame.glow > 0;
    if (stale.points && (this.layer === null || this.layer.draw(scene, frame))) {
      host.dataset.ready = "true";
      stale.points = flying || changing;
    }
    if (stale.above) {
      this.overlay.draw(scene, camera, ratio, frame.diameter, colorsFor(this.options.dark), this.outline);
      stale.above = flying;
    }
    this.frameTime = performance.now() - now;
    host.dataset.frame = String(++this.frameCount);
    return flying || changing;
  }

  private frameAt(now: number, ratio: number): Frame {
    const { x, y, scale, width, height, zoom } = this.camera;
    const { count, marks } = this.scene;
    return {
      x,
      y,
      scale,
      width,
      height,
      ratio,
      diameter: diameterOf(count, width, height, zoom),
      opacity: count > MANY ? 0.8 : 1,
      mix: this.recoloring.at(now),
      glow: 1 - this.glowing.at(now),
      ring: this.ringed,
      dim: marks.selected.length > 0,
      dark: this.options.dark,
    };
  }
}

function addCanvas(host: HTMLElement): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.setAttribute("aria-hidden", "true"); // the page has a table for those who do not see it
  Object.assign(canvas.style, { position: "absolute", inset: "0", width: "100%", height: "100%" });
  host.append(canvas);
  return canvas;
}

/** Returns whether the size was another one, which has also cleared the canvas. */
function sizeCanvas(canvas: HTMLCanvasElement, camera: Camera, ratio: number): boolean {
  const [width, height] = [Math.round(camera.width * ratio), Math.round(camera.height * ratio)];
  if (canvas.width === width && canvas.height === height) return false;
  canvas.width = width;
  canvas.height = height;
  return true;
}
