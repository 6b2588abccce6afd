/** Opens maps for tests, and writes down what they report. */

import type { Row } from "../src/api";
import { createMap } from "../src/map";
import type { MapOptions, MapView } from "../src/map/types";

const harness = {
  hovers: [] as [Row | null, number, number][],
  clicks: [] as (Row | null)[],
  selections: [] as Uint32Array[],
  map: null as MapView | null,

  open(options: Partial<MapOptions> = {}): void {
    const host = document.getElementById("host")!;
    const callbacks = {
      onHover: (row: Row | null, x: number, y: number) => harness.hovers.push([row, x, y]),
      onClick: (row: Row | null) => harness.clicks.push(row),
      onSelect: (rows: Uint32Array) => harness.selections.push(rows),
    };
    harness.map = createMap(host, callbacks, { reducedMotion: false, dark: false, ...options });
  },

  /** So many points in blobs, the same in every run. */
  blobs(count: number, blobs: number): { xy: Float32Array; values: Uint8Array } {
    let seed = 1;
    const random = (): number => (seed = (seed * 48271) % 0x7fffffff) / 0x7fffffff;
    const xy = new Float32Array(2 * count);
    const values = new Uint8Array(count);
    for (let row = 0; row < count; row++) {
      const blob = (values[row] = row % blobs);
      const [radius, angle] = [Math.sqrt(-2 * Math.log(random())), 2 * Math.PI * random()];
      xy[2 * row] = 6 * Math.cos(blob) + radius * Math.cos(angle);
      xy[2 * row + 1] = 6 * Math.sin(blob) + radius * Math.sin(angle);
    }
    return { xy, values };
  },
};

export type Harness = typeof harness;

Object.assign(window, { harness });
