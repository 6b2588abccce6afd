/** What fingers, mouse and wheel do, as pans, zooms, clicks and outlines. Coordinates are pixels from the corner. */

import type { LassoMode } from "./lasso";

/** A place on the map, and in the page. */
export interface Spot {
  x: number;
  y: number;
  pageX: number;
  pageY: number;
}

export interface Gestures {
  pan(dx: number, dy: number): void;
  zoomAt(x: number, y: number, factor: number): void;
  /** The pointer rests or moves without a button; null when it is gone or drags. */
  hover(at: Spot | null): void;
  click(x: number, y: number, finger: boolean): void;
  /** The outline grows by a corner. */
  lasso(x: number, y: number): void;
  /** The outline is done, or given up (null). */
  lassoEnd(mode: LassoMode | null): void;
}

/** Farther than this a press is a drag, no click. */
const STILL = 4;
/** Pixels of a line, for wheels that count in lines. */
const LINE = 16;
const ZOOM_PER_PIXEL = 0.0015;
/** A pinch on a trackpad arrives as a wheel with the control key, in small steps. */
const ZOOM_PER_PINCH = 0.01;

interface Press {
  x: number;
  y: number;
}

/** Listens to an element until the signal aborts. */
export function listen(element: HTMLElement, gestures: Gestures, signal: AbortSignal): void {
  const pressed = new Map<number, Press>();
  let start: Press | null = null;
  /** Whether the press has gone far from where it began, also if it came back, as an outline does. */
  let far = false;
  let doing: "nothing" | "waiting" | "panning" | "outlining" = "nothing";
  element.style.touchAction = "none"; // the browser would scroll with what are pans and pinches here
  element.style.cursor = "grab";

  const on = <K extends keyof HTMLElementEventMap>(name: K, act: (event: HTMLElementEventMap[K]) => void): void =>
    element.addEventListener(name, act, { signal, passive: false });

  const middle = (): Press & { spread: number } => {
    const [a, b] = [...pressed.values()];
    if (a === undefined || b === undefined) return { ...(a ?? { x: 0, y: 0 }), spread: 0 };
    return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, spread: Math.hypot(a.x - b.x, a.y - b.y) };
  };

  on("pointerdown", (event) => {
    if (event.pointerType === "mouse" && event.button !== 0) return;
    element.setPointerCapture(event.pointerId);
    pressed.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    gestures.hover(null);
    if (pressed.size === 1) {
      start = { x: event.offsetX, y: event.offsetY };
      far = false;
      doing = event.shiftKey ? "outlining" : "waiting";
      if (doing === "outlining") gestures.lasso(start.x, start.y);
      element.style.cursor = doing === "outlining" ? "crosshair" : "grabbing";
    } else {
      if (doing === "outlining") gestures.lassoEnd(null);
      doing = "panning";
    }
  });

  on("pointermove", (event) => {
    const here = { x: event.offsetX, y: event.offsetY };
    if (!pressed.has(event.pointerId)) {
      if (event.pointerType !== "touch") gestures.hover({ ...here, pageX: event.pageX, pageY: event.pageY });
      return;
    }
    if (start !== null && Math.hypot(here.x - start.x, here.y - start.y) > STILL) far = true;
    if (doing === "outlining") {
      pressed.set(event.pointerId, here);
      gestures.lasso(here.x, here.y);
      return;
    }
    if (doing === "waiting" && far) doing = "panning";
    if (doing !== "panning") return;
    const before = middle();
    pressed.set(event.pointerId, here);
    const after = middle();
    gestures.pan(after.x - before.x, after.y - before.y);
    if (before.spread > 0) gestures.zoomAt(after.x, after.y, after.spread / before.spread);
  });

  const release = (event: PointerEvent, given: boolean): void => {
    if (!pressed.delete(event.pointerId) || pressed.size > 0) return;
    if (doing === "outlining") {
      const mode = event.altKey ? "remove" : event.metaKey || event.ctrlKey ? "add" : "replace";
      gestures.lassoEnd(given && far ? mode : null);
    }
    if (given && !far && doing !== "panning") gestures.click(event.offsetX, event.offsetY, event.pointerType === "touch");
    doing = "nothing";
    element.style.cursor = "grab";
  };
  on("pointerup", (event) => release(event, true));
  on("pointercancel", (event) => release(event, false));
  on("pointerleave", (event) => {
    if (pressed.size === 0 && event.pointerType !== "touch") gestures.hover(null);
  });

  on("wheel", (event) => {
    event.preventDefault();
    const pixels = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE * event.deltaY : event.deltaY;
    const rate = event.ctrlKey ? ZOOM_PER_PINCH : ZOOM_PER_PIXEL;
    gestures.zoomAt(event.offsetX, event.offsetY, Math.exp(-pixels * rate));
  });
}
