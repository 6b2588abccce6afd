import { useEffect, useState } from "preact/hooks";
import type { Card } from "../api";
import { useClusterName, useModel, useProject, useSession } from "../state/context";
import { count, grouped, share } from "../state/words";
import { Swatch } from "./Swatch";

const MOST = 200;
const COLUMNS = 4;

/** The rows behind the map: the first of the selected clusters, or of all. */
export function RowTable({ bare }: { bare: boolean }) {
  const session = useSession();
  const name = useClusterName();
  const selected = useModel((model) => model.selected);
  const labels = useModel((model) => model.labels);
  const [cards, setCards] = useState<Card[]>([]);
  useEffect(() => {
    let current = true;
    void session.try(async () => {
      const found = await session.rows(session.firstRows(MOST), true);
      if (current) setCards(found);
    });
    return () => { current = false; };
  }, [selected, labels]);
  const columns = (cards[0]?.cells ?? []).filter(({ kind }) => kind !== "image").slice(0, COLUMNS);
  const { rows } = useProject();
  const of = selected.length === 0 ? count(rows, "row") : selected.map(name).join(", ");
  return (
    <div class="rows" tabIndex={0} role="group" aria-label="Rows as a table">
      {bare && <p class="muted">This browser cannot draw the map; here are the rows as a table. Everything else works as usual.</p>}
      <table class="num" data-testid="rows">
        <caption>The first {grouped(cards.length)} of <bdi>{of}</bdi></caption>
        <thead>
          <tr>
            <th scope="col">row</th><th scope="col">cluster</th><th scope="col">sure</th>
            {columns.map(({ column }) => <th scope="col" key={column}><bdi>{column}</bdi></th>)}
          </tr>
        </thead>
        <tbody>
          {cards.map((card) => (
            <tr key={card.row}>
              <th scope="row"><button type="button" class="link" onClick={() => void session.open(card.row)}><bdi>{card.name}</bdi></button></th>
              <td>{card.cluster !== null && <Swatch id={card.cluster} />} <bdi>{name(card.cluster)}</bdi></td>
              <td>{share(card.margin)}</td>
              {columns.map(({ column }, i) => <td key={column} dir="auto">{card.cells.filter(({ kind }) => kind !== "image")[i]?.text}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
