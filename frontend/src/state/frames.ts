/** Decodes frames: the length of the header, the header, the values (see api.ts). */

import type { Header, Row } from "../api";

export type Values = Uint8Array | Uint16Array;

export type Frame =
  | { header: Extract<Header, { type: "layout" }>; points: Float32Array }
  | { header: Extract<Header, { type: "labels" | "channel" }>; values: Values }
  | { header: Extract<Header, { type: "changes" }>; rows: Uint32Array; values: Values };

export function decodeFrame(buffer: ArrayBuffer): Frame {
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length))) as Header;
  const start = 4 + length;
  switch (header.type) {
    case "layout":
      return { header, points: new Float32Array(buffer, start, 2 * header.rows) };
    case "labels":
    case "channel":
      return { header, values: values(buffer, start, header.rows, header.dtype) };
    case "changes":
      return {
        header,
        rows: new Uint32Array(buffer, start, header.count),
        values: values(buffer, start + 4 * header.count, header.count, header.dtype),
      };
  }
}

/** The value of rows without a cluster or label. */
export function nothing(values: Values): number {
  return values instanceof Uint8Array ? 255 : 65535;
}

/** The first rows that have one of these values; all rows if no value is given. */
export function rowsWith(values: Values, wanted: number[], limit: number): Row[] {
  const rows: Row[] = [];
  const set = new Set(wanted);
  for (let row = 0; row < values.length && rows.length < limit; row++) {
    if (set.size === 0 || set.has(values[row]!)) rows.push(row);
  }
  return rows;
}

function values(buffer: ArrayBuffer, start: number, count: number, dtype: "u8" | "u16"): Values {
  return dtype === "u8" ? new Uint8Array(buffer, start, count) : new Uint16Array(buffer, start, count);
}
