import { useMayAnswer, useModel, useSession } from "../state/context";
import { count } from "../state/words";
import { ClusterActs } from "./ClusterActs";

/** As many rows as a question about piles may have. */
const MOST = 12;

/** What to say about the rows that were drawn around. */
export function LassoBar() {
  const session = useSession();
  const may = useMayAnswer();
  const rows = useModel((model) => model.lasso);
  const pile = useModel((model) => model.pile);
  const labels = useModel((model) => model.labels);
  if (rows.length === 0 && pile.length === 0) return null;
  const others = rows.filter((row) => !pile.includes(row));
  const split = () => {
    const cluster = labels?.values[pile[0]!];
    if (cluster !== undefined) void session.act({ act: "split", cluster, piles: [pile, others] });
  };
  return (
    <div class="lasso" role="group" aria-label="Rows that were drawn around" data-testid="lasso">
      <strong class="num" role="status">{count(rows.length, "row")} selected</strong>
      {may && rows.length > 0 && <ClusterActs rows={rows} />}
      {may && rows.length > 1 && (
        <button type="button" data-testid="act-together" onClick={() => void session.act({ act: "together", rows })}>Together</button>
      )}
      {may && rows.length > 2 && rows.length <= MOST && (
        <button type="button" data-testid="act-sort" onClick={() => void session.asking.askToSort(rows)}>Sort into piles</button>
      )}
      {may && pile.length === 0 && (
        <button type="button" data-testid="act-pile" onClick={() => session.store.set({ pile: rows, lasso: [] })}>Split: first pile</button>
      )}
      {may && pile.length > 0 && (
        <button type="button" data-testid="act-split" disabled={others.length === 0} onClick={split}>
          {others.length === 0 ? `Pile of ${pile.length}: now draw the second` : `Split ${pile.length} from ${others.length}`}
        </button>
      )}
      <button type="button" class="quiet" onClick={() => session.store.set({ lasso: [], pile: [] })}>Clear</button>
    </div>
  );
}
