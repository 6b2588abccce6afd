import type { Row } from "../api";
import { useClusterName, useModel, useSession } from "../state/context";

/** Say of some rows that they belong to a cluster, or never to it. */
export function ClusterActs({ rows }: { rows: Row[] }) {
  const session = useSession();
  const name = useClusterName();
  const clusters = useModel((model) => model.state?.clusters)!;
  const act = (what: "belongs" | "never", title: string) => (
    <select
      class="act" aria-label={title} data-testid={`act-${what}`} value=""
      onChange={(event) => {
        const cluster = Number(event.currentTarget.value);
        event.currentTarget.value = "";
        void session.act({ act: what, rows, cluster });
      }}
    >
      <option value="" disabled>{title}</option>
      {clusters.map(({ id }) => <option key={id} value={id}>{name(id)}</option>)}
    </select>
  );
  return (
    <div class="row acts">
      {act("belongs", "Belongs to …")}
      {act("never", "Never in …")}
    </div>
  );
}
