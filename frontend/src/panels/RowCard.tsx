import { useEffect, useRef, useState } from "preact/hooks";
import type { Card, Row } from "../api";
import type { MapView } from "../map/types";
import { useClusterName, useMayAnswer, useModel, useSession } from "../state/context";
import { share } from "../state/words";
import { ClusterActs } from "./ClusterActs";
import { Picture } from "./Picture";
import { Swatch } from "./Swatch";

interface Neighbor {
  row: Row;
  name: string;
  distance: number;
}

/** All about one row, and what to say about it. */
export function RowCard({ row, view }: { row: Row; view: MapView | null }) {
  const session = useSession();
  const may = useMayAnswer();
  const name = useClusterName();
  const revision = useModel((model) => model.state?.revision);
  const [card, setCard] = useState<Card | null>(null);
  const [neighbors, setNeighbors] = useState<Neighbor[]>([]);
  const root = useRef<HTMLElement>(null);

  useEffect(() => {
    let current = true;
    void session.try(async () => {
      const [found] = await session.rows([row], true);
      if (current) setCard(found ?? null);
    });
    return () => { current = false; };
  }, [row, revision]);
  useEffect(() => {
    const before = document.activeElement;
    root.current?.focus({ preventScroll: true });
    let current = true;
    void session.try(async () => {
      const near = await session.transport.ask<Neighbor[]>("GET", `neighbors/${row}?count=10`);
      if (!current) return;
      setNeighbors(near);
      session.store.set({ neighbors: near.map((one) => one.row) });
    });
    return () => {
      current = false;
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
    };
  }, [row]);

  return (
    <aside class="card" data-testid="card" aria-label={card ? `Row ${card.name}` : "Row"} tabIndex={-1} ref={root}>
      <header>
        <h3><bdi>{card?.name ?? "…"}</bdi></h3>
        <button type="button" class="quiet" onClick={() => view?.show([row, ...neighbors.map((one) => one.row)])}>Show</button>
        <button type="button" class="icon" aria-label="Close this card" onClick={() => void session.open(null)}>×</button>
      </header>
      {card && (
        <div class="scroll" tabIndex={0} role="group" aria-label="About this row">
          <p class="of num">
            {card.cluster !== null && <Swatch id={card.cluster} />} <bdi>{name(card.cluster)}</bdi> <span class="muted">sure {share(card.margin)}</span>
          </p>
          {may && <ClusterActs rows={[row]} />}
          {card.images.map((image) => <Picture key={image} image={image} name={card.name} />)}
          <dl class="num">
            {card.cells.filter(({ kind }) => kind !== "image").map((cell) => (
              <div key={cell.column}><dt><bdi>{cell.column}</bdi></dt><dd dir="auto">{cell.text || "–"}</dd></div>
            ))}
          </dl>
          {card.clues.length > 0 && <h4>Clues</h4>}
          <ul class="plain">
            {card.clues.map((clue, i) => (
              <li key={i} data-broken={clue.broken}>
                <span dir="auto">{clue.words}</span>
                {clue.broken && <span class="badge bad">broken</span>}
                {may && clue.entry !== null && (
                  <button type="button" class="link" aria-label={`Drop: ${clue.words}`} onClick={() => void session.asking.drop(clue.entry!)}>Drop</button>
                )}
              </li>
            ))}
          </ul>
          <h4>Nearest rows</h4>
          <ul class="names">
            {neighbors.map((near) => (
              <li key={near.row}>
                <button type="button" class="link num" onClick={() => void session.open(near.row)}><bdi>{near.name}</bdi></button>
              </li>
            ))}
          </ul>
        </div>
      )}
    </aside>
  );
}
