/** How clusters look: a color and a shape by their permanent id, so that a cluster never changes its color. */

import type { ChannelName } from "../api";
import type { Look } from "../map/types";

type Rgb = [number, number, number];

/** Okabe and Ito's eight, the most different first; black becomes white on a dark page, yellow is darker on a light one. */
const EIGHT: { light: string; dark: string }[] = [
  { light: "#0072b2", dark: "#3d9fdc" },
  { light: "#d55e00", dark: "#f0803c" },
  { light: "#009e73", dark: "#14b98a" },
  { light: "#cc79a7", dark: "#db8fb9" },
  { light: "#e69f00", dark: "#f0b429" },
  { light: "#56b4e9", dark: "#8fd0f7" },
  { light: "#b8a800", dark: "#f0e442" },
  { light: "#3b4048", dark: "#e3e6ea" },
];
/** Each further eight: another lightness and another shape. */
const TIERS: { toward: number; shape: Look["shape"] }[] = [
  { toward: 0, shape: "disc" },
  { toward: -0.35, shape: "square" },
  { toward: 0.4, shape: "triangle" },
];
const PAPER: { light: Rgb; dark: Rgb } = { light: [255, 255, 255], dark: [22, 24, 28] };

export function clusterLook(id: number, dark: boolean): Look {
  const tier = TIERS[Math.floor(id / EIGHT.length) % TIERS.length]!;
  const base = parse(EIGHT[id % EIGHT.length]![dark ? "dark" : "light"]);
  const end: Rgb = tier.toward < 0 ? [0, 0, 0] : [255, 255, 255];
  return { color: mix(base, end, Math.abs(tier.toward)), shape: tier.shape };
}

/** Looks of the ids from 0 to count − 1; with a selection, the other clusters step back. */
export function clusterLooks(count: number, dark: boolean, selected: number[]): Look[] {
  const paper = PAPER[dark ? "dark" : "light"];
  return Array.from({ length: count }, (_, id) => {
    const look = clusterLook(id, dark);
    if (selected.length === 0 || selected.includes(id)) return look;
    return { ...look, color: mix(look.color, paper, 0.78) };
  });
}

/** Shares from 0 (value 0) to 1 (value 254), from the accent to what stands out; for `doubt` the other way round. */
export function rampLooks(name: ChannelName, dark: boolean): Look[] {
  const calm = parse(dark ? "#4a5568" : "#c3cad4");
  const strong = parse(name === "doubt" ? (dark ? "#f0803c" : "#d55e00") : dark ? "#6cb6ff" : "#0b5cad");
  return Array.from({ length: 255 }, (_, value) => ({ color: mix(calm, strong, value / 254), shape: "disc" as const }));
}

export function css([r, g, b]: Rgb): string {
  return `rgb(${Math.round(r)} ${Math.round(g)} ${Math.round(b)})`;
}

function parse(hex: string): Rgb {
  return [1, 3, 5].map((start) => parseInt(hex.slice(start, start + 2), 16)) as Rgb;
}

function mix(a: Rgb, b: Rgb, share: number): Rgb {
  return a.map((value, i) => value + share * (b[i]! - value)) as Rgb;
}
