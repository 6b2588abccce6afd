import type { ClusterId } from "../api";
import { useLook } from "../state/context";
import { css } from "../state/looks";

const SHAPES = {
  disc: "M8 2a6 6 0 1 0 0 12a6 6 0 1 0 0-12z",
  square: "M3 3h10v10H3z",
  triangle: "M8 2l6.5 11.5h-13z",
  diamond: "M8 1l7 7-7 7-7-7z",
  ring: "M8 2a6 6 0 1 0 0 12a6 6 0 1 0 0-12zm0 3a3 3 0 1 1 0 6a3 3 0 1 1 0-6z",
};

/** The color and the shape of a cluster, as on the map. */
export function Swatch({ id }: { id: ClusterId }) {
  const look = useLook(id);
  return (
    <svg class="swatch" viewBox="0 0 16 16" aria-hidden="true">
      <path d={SHAPES[look.shape]} fill={css(look.color)} />
    </svg>
  );
}
