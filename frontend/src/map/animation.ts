/** Things that happen over time, and frames only while something happens. */

import type { Camera, Place } from "./camera";

/** From 0 to 1 in so many milliseconds. */
export class Progress {
  private begin = -Infinity;

  constructor(private readonly duration: number) {}

  start(now: number): void {
    this.begin = now;
  }

  finish(): void {
    this.begin = -Infinity;
  }

  at(now: number): number {
    return Math.min(Math.max((now - this.begin) / this.duration, 0), 1);
  }
}

/** Moves the camera to another place. */
export class Flight {
  private readonly progress = new Progress(250);
  private from: Place | null = null;
  private to: Place | null = null;
  private arrived = (): void => {};

  constructor(private readonly camera: Camera) {}

  start(to: Place, now: number, arrived: () => void): void {
    const { x, y, scale } = this.camera;
    this.from = { x, y, scale };
    this.to = to;
    this.arrived = arrived;
    this.progress.start(now);
  }

  stop(): void {
    this.to = null;
  }

  /** Move on; returns whether there is more to come. */
  step(now: number): boolean {
    const { from, to } = this;
    if (from === null || to === null) return false;
    const time = this.progress.at(now);
    if (time === 1) {
      this.camera.put(to);
      this.to = null;
      this.arrived();
      return false;
    }
    const share = time * time * (3 - 2 * time);
    this.camera.put({
      x: from.x + share * (to.x - from.x),
      y: from.y + share * (to.y - from.y),
      scale: from.scale * (to.scale / from.scale) ** share,
    });
    return true;
  }
}

/** Calls `draw` before the next paint, once, however often it was asked; `draw` returns whether to go on. */
export class Frames {
  private handle = 0;

  constructor(private readonly draw: (now: number) => boolean) {}

  request(): void {
    this.handle ||= requestAnimationFrame(() => {
      this.handle = 0;
      // The time of the frame may lie before an animation that an event has just started.
      if (this.draw(performance.now())) this.request();
    });
  }

  stop(): void {
    cancelAnimationFrame(this.handle);
    this.handle = 0;
  }
}
