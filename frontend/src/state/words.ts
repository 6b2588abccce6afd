/** Numbers and values in words. */

import type { Value } from "../api";

const NUMBER = new Intl.NumberFormat("en");

export function count(number: number, one: string, many = `${one}s`): string {
  return `${NUMBER.format(number)} ${number === 1 ? one : many}`;
}

export function grouped(number: number): string {
  return NUMBER.format(number);
}

export function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}

/** A share from 0 to 1 with two digits and no leading zero, as in tables. */
export function share(value: number): string {
  return value >= 0.995 ? "1.0" : value.toFixed(2).slice(1);
}

export function seconds(value: number | null): string {
  if (value === null) return "–";
  return value < 60 ? `${value.toFixed(1)} s` : `${Math.round(value / 60)} min`;
}

export function valueWords(value: Value, name: (row: number) => string): string {
  if (value === null) return "don't know";
  if (value === true) return "same";
  if (value === false) return "different";
  if (typeof value === "string") return value;
  if (typeof value === "number") return name(value);
  return count(value.length, "pile");
}
