/** Swipes on a phone: right is same, left is different, up is don't know. */

import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";
import type { Value } from "../api";

const FAR = 72;

export function useSwipe(card: RefObject<HTMLElement>, on: boolean, answer: (value: Value) => void): void {
  useEffect(() => {
    const element = card.current;
    if (!element || !on) return;
    let start: { x: number; y: number; id: number } | null = null;

    const down = (event: PointerEvent) => {
      if (event.pointerType === "touch" && event.isPrimary) start = { x: event.clientX, y: event.clientY, id: event.pointerId };
    };
    const move = (event: PointerEvent) => {
      if (event.pointerId !== start?.id) return;
      const value = meant(event.clientX - start.x, event.clientY - start.y);
      element.style.transform = `translateX(${(event.clientX - start.x) / 3}px)`;
      element.dataset.swipe = value === undefined ? "" : String(value);
    };
    const end = (event: PointerEvent) => {
      if (event.pointerId !== start?.id) return;
      const value = event.type === "pointerup" ? meant(event.clientX - start.x, event.clientY - start.y) : undefined;
      start = null;
      element.style.transform = "";
      delete element.dataset.swipe;
      if (value !== undefined) answer(value);
    };
    element.addEventListener("pointerdown", down);
    element.addEventListener("pointermove", move);
    element.addEventListener("pointerup", end);
    element.addEventListener("pointercancel", end);
    return () => {
      element.removeEventListener("pointerdown", down);
      element.removeEventListener("pointermove", move);
      element.removeEventListener("pointerup", end);
      element.removeEventListener("pointercancel", end);
    };
  });
}

function meant(dx: number, dy: number): boolean | null | undefined {
  if (Math.abs(dx) > FAR && Math.abs(dx) > 1.5 * Math.abs(dy)) return dx > 0;
  if (dy < -FAR && -dy > 1.5 * Math.abs(dx)) return null;
  return undefined;
}
