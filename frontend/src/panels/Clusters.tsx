import type { ClusterState } from "../api";
import { useMayAnswer, useModel, useSession } from "../state/context";
import { count, grouped, share } from "../state/words";
import { ClusterDetail } from "./ClusterDetail";
import { ClusterName } from "./ClusterName";
import { Swatch } from "./Swatch";

export function Clusters() {
  const session = useSession();
  const may = useMayAnswer();
  const state = useModel((model) => model.state)!;
  const selected = useModel((model) => model.selected);
  const [only] = selected.length === 1 ? selected : [];
  return (
    <section class="panel clusters" data-testid="clusters" aria-label="Clusters">
      <header class="tools">
        <h2>Clusters</h2>
        <span class="muted num" role="status">
          {selected.length > 0 ? `${selected.length} selected` : ""}
          {selected.length === 0 && state.noise > 0 ? `${count(state.noise, "row")} in no cluster` : ""}
        </span>
        {may && (
          <div class="row">
            <button type="button" data-testid="merge" disabled={selected.length < 2} onClick={() => session.merge()}><kbd aria-hidden="true">G</kbd> Merge</button>
            <button type="button" data-testid="split" disabled={selected.length !== 1} onClick={() => session.split()}><kbd aria-hidden="true">K</kbd> Split</button>
          </div>
        )}
      </header>
      <div class="scroll" tabIndex={0} role="group" aria-label="List of clusters">
        <ul class="list">
          {state.clusters.map((cluster) => (
            <li key={cluster.id} data-testid={`cluster-${cluster.id}`} data-selected={selected.includes(cluster.id)}>
              <Line cluster={cluster} chosen={selected.includes(cluster.id)} />
              {only === cluster.id && <ClusterDetail id={cluster.id} />}
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}

/** What fits into a line: "1.9×" of "1.9× the rest (1072 against 555)"; the detail below has all of it. */
function brief(comparison: string): string {
  return comparison.replace(/ the rest \(.*\)$/, "");
}

function Line({ cluster, chosen }: { cluster: ClusterState; chosen: boolean }) {
  const session = useSession();
  const may = useMayAnswer();
  const profile = useModel((model) => model.clusters.find(({ id }) => id === cluster.id));
  const { id, size, name, locked, confidence } = cluster;
  const title = name ?? `cluster ${id}`;
  const words = profile?.differences.slice(0, 3).map(({ column, comparison }) => `${column} ${brief(comparison)}`) ?? [];
  const lock = () => void session.act({ act: locked ? "unlock" : "lock", cluster: id });
  return (
    <div class="line">
      <input
        type="checkbox" checked={chosen} aria-label={`Add ${title} to the selection`} onChange={() => session.select(id, true)}
      />
      <Swatch id={id} />
      <ClusterName cluster={cluster} suggested={profile?.suggested ?? ""} may={may} />
      <button type="button" class="about" aria-expanded={chosen} onClick={(event) => session.select(id, event.metaKey || event.ctrlKey || event.shiftKey)}>
        <span class="hidden">About {title}:</span>
        <span class="size num">{grouped(size)}</span>
        <span class="profile" dir="auto">{words.join(" · ")}</span>
        <span class="sure num" title="How sure its rows are of this cluster, from 0 to 1"><span class="muted">sure</span> {share(confidence)}</span>
      </button>
      {may && (
        <button
          type="button" class="toggle lock" data-testid={`lock-${id}`} aria-pressed={locked}
          aria-label={`Lock ${title}: its rows stay`} title={locked ? "Locked: its rows stay" : "Lock: its rows stay"} onClick={lock}
        >
          <svg viewBox="0 0 16 16" aria-hidden="true">
            <rect x="3" y="7" width="10" height="7" rx="1.5" /><path d={locked ? "M5 7V5a3 3 0 0 1 6 0v2" : "M5 7V5a3 3 0 0 1 5.8-1.1"} />
          </svg>
        </button>
      )}
    </div>
  );
}
