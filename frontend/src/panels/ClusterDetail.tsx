import type { ClusterId } from "../api";
import { useClusterName, useModel, useSession } from "../state/context";

/** What makes a cluster what it is, with examples. */
export function ClusterDetail({ id }: { id: ClusterId }) {
  const session = useSession();
  const name = useClusterName();
  const cluster = useModel((model) => model.clusters.find((one) => one.id === id));
  if (!cluster) return <p class="detail muted">The profile is being made…</p>;
  const largest = Math.max(...cluster.differences.map(({ effect }) => Math.abs(effect)), 1e-9);
  return (
    <div class="detail">
      <div>
        <h3>What is special</h3>
        <table class="num">
          <tbody>
            {cluster.differences.map(({ column, comparison, effect }) => (
              <tr key={column}>
                <th scope="row"><bdi>{column}</bdi></th>
                <td dir="auto">{comparison}</td>
                <td class="bar"><meter min={0} max={1} value={Math.abs(effect) / largest} aria-label={`Effect of ${column}`} /></td>
              </tr>
            ))}
          </tbody>
        </table>
        {cluster.words.map(({ column, words }) => (
          <p key={column}><bdi class="muted">{column}:</bdi> <span dir="auto">{words.join(", ")}</span></p>
        ))}
        {cluster.rule !== null && <p class="rule"><span class="muted">Rule:</span> <code dir="auto">{cluster.rule}</code></p>}
      </div>
      <div>
        <h3>Typical</h3>
        <ul class="names">
          {cluster.typical.map(({ row, name: title }) => (
            <li key={row}><button type="button" class="link" onClick={() => void session.open(row)}><bdi>{title}</bdi></button></li>
          ))}
        </ul>
        <h3>On the border</h3>
        <ul class="names">
          {cluster.borderline.map(({ row, name: title, near }) => (
            <li key={row}>
              <button type="button" class="link" onClick={() => void session.open(row)}><bdi>{title}</bdi></button>
              <span class="muted"> near <bdi>{name(near)}</bdi></span>
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}
