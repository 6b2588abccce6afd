import type { MapView } from "../map/types";
import { useModel, useSession } from "../state/context";
import type { ColorMode } from "../state/model";
import { Search } from "./Search";

const COLORS: [ColorMode, string][] = [
  ["cluster", "cluster"], ["known", "known label"], ["confidence", "confidence"], ["doubt", "doubt"], ["source", "source"],
];

export function MapTools({ view, bare }: { view: MapView | null; bare: boolean }) {
  const session = useSession();
  const color = useModel((model) => model.color);
  const layouts = useModel((model) => model.layouts);
  const layout = useModel((model) => model.layout);
  const links = useModel((model) => model.links);
  const table = useModel((model) => model.table);
  return (
    <header class="tools">
      <h2>Map</h2>
      <label class="pick">
        <span>color</span>
        <select data-testid="color-mode" value={color} onChange={(event) => session.setColor(event.currentTarget.value as ColorMode)}>
          {COLORS.map(([id, title]) => <option key={id} value={id}>{title}</option>)}
        </select>
      </label>
      {layouts.length > 1 && (
        <label class="pick">
          <span>layout</span>
          <select data-testid="layout" value={layout} onChange={(event) => void session.setLayout(event.currentTarget.value)}>
            {layouts.map(({ id, title, ready }) => (
              <option key={id} value={id} disabled={!ready}>{title}</option>
            ))}
          </select>
        </label>
      )}
      <button type="button" class="toggle" data-testid="links" aria-pressed={links} onClick={() => session.store.set({ links: !links })}>Links</button>
      {!bare && (
        <button type="button" class="toggle" data-testid="table" aria-pressed={table} onClick={() => session.store.set({ table: !table })}>Table</button>
      )}
      <Search view={view} />
      <div class="zoom" role="group" aria-label="Zoom">
        <button type="button" class="icon" aria-label="Zoom in" onClick={() => view?.zoom(1.4)}>+</button>
        <button type="button" class="icon" aria-label="Zoom out" onClick={() => view?.zoom(1 / 1.4)}>−</button>
        <button type="button" class="icon" aria-label="Show all rows" title="Show all rows" onClick={() => view?.fit()}>
          <svg viewBox="0 0 16 16" aria-hidden="true"><path d="M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4" /></svg>
        </button>
      </div>
    </header>
  );
}
