import { useEffect, useRef, useState } from "preact/hooks";
import { createMap } from "../map";
import type { MapView } from "../map/types";
import type { Row } from "../api";
import { useModel, useProject, useSession } from "../state/context";
import { count } from "../state/words";
import { HoverCard } from "./HoverCard";
import { LassoBar } from "./LassoBar";
import { Legend } from "./Legend";
import { MapTools } from "./MapTools";
import { RowCard } from "./RowCard";
import { RowTable } from "./RowTable";
import { useMapData } from "./mapdata";

export interface Hover {
  row: Row;
  x: number;
  y: number;
}

export function MapPanel() {
  const session = useSession();
  const { rows } = useProject();
  const host = useRef<HTMLDivElement>(null);
  const [view, setView] = useState<MapView | null>(null);
  const [hover, setHover] = useState<Hover | null>(null);
  const dark = useModel((model) => model.dark);
  const calm = useModel((model) => model.calm);
  const table = useModel((model) => model.table);
  const fitting = useModel((model) => model.state?.fitting ?? false);
  const card = useModel((model) => model.card);
  const points = useModel((model) => model.points);
  const [bare, setBare] = useState(false);

  useEffect(() => {
    const made = createMap(
      host.current!,
      {
        onHover: (row, x, y) => setHover(row === null ? null : { row, x, y }),
        onClick: (row) => void session.open(row),
        onSelect: (selected) => session.store.set({ lasso: Array.from(selected) }),
      },
      { dark, reducedMotion: calm },
    );
    setView(made);
    return () => made.destroy();
  }, []);
  useEffect(() => view?.setOptions({ dark, reducedMotion: calm }), [view, dark, calm]);
  const channel = useMapData(view);
  // Only now the map knows how many points it would have to draw.
  useEffect(() => setBare(view?.stats().backend === "none"), [view, points]);

  const pressed = (event: KeyboardEvent) => {
    if (!view || !move(view, event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <section class="panel map" aria-label="Map">
      <MapTools view={view} bare={bare} />
      <div class="stage">
        {fitting && <div class="fitting" data-testid="fitting" role="progressbar" aria-label="Finding the clusters anew" />}
        <div
          class="host" data-testid="map" ref={host} tabIndex={0} role="application" onKeyDown={pressed}
          aria-label={`Map of ${count(rows, "row")}. Arrow keys move it, plus and minus zoom, 0 shows all. The button Table shows the rows as a table.`}
          hidden={bare || table} onPointerLeave={() => setHover(null)}
        />
        {(bare || table) && <RowTable bare={bare} />}
        {!bare && !table && <Legend channel={channel} />}
        {hover && card !== hover.row && <HoverCard hover={hover} host={host} />}
        {card !== null && <RowCard key={card} row={card} view={view} />}
      </div>
      <LassoBar />
      <Moved />
    </section>
  );
}

/** What the last fit changed. */
function Moved() {
  const last = useModel((model) => model.state?.last ?? null);
  return <p class="moved num" data-testid="moved" role="status" aria-live="polite">{last ? last.words : ""}</p>;
}

function move(view: MapView, key: string): boolean {
  const steps: Record<string, [number, number]> = {
    ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1],
  };
  const step = steps[key];
  if (step) view.pan(...step);
  else if (key === "+" || key === "=") view.zoom(1.25);
  else if (key === "-" || key === "−") view.zoom(0.8);
  else if (key === "0") view.fit();
  else return false;
  return true;
}
