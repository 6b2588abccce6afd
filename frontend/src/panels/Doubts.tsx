import type { Doubts as Found } from "../api";
import { useMayAnswer, useModel, useSession } from "../state/context";
import { percent, share } from "../state/words";
import { Helped } from "./Helped";

export function Doubts() {
  const doubts = useModel((model) => model.doubts);
  return (
    <div data-testid="doubts" class="stack">
      {doubts === null && <p class="muted">Loading…</p>}
      {doubts && (
        <>
          {doubts.contradictions.map((chain, i) => <Chain key={i} chain={chain} />)}
          <Suspects suspects={doubts.suspects} />
          {doubts.suspects.length + doubts.contradictions.length === 0 && <p class="muted">No answer is doubtful, and none contradicts another.</p>}
          <Helped />
          <Unsure rows={doubts.unsure} />
          {doubts.report !== "" && (
            <details class="report">
              <summary>The doctor's report</summary>
              <pre dir="auto" tabIndex={0}>{doubts.report}</pre>
            </details>
          )}
        </>
      )}
    </div>
  );
}

/** Answers that cannot all be right. */
function Chain({ chain }: { chain: Found["contradictions"][number] }) {
  const session = useSession();
  const may = useMayAnswer();
  return (
    <section class="chain" data-testid="contradiction">
      <h3><span class="badge bad">contradiction</span> <span dir="auto">{chain.words}</span></h3>
      <ol>
        {chain.steps.map((step, i) => (
          <li key={i}>
            <Words words={step.words} rows={step.rows} />
            {may && step.entry !== null && (
              <button type="button" aria-label={`Drop: ${step.words}`} onClick={() => void session.asking.drop(step.entry!)}>Drop</button>
            )}
            {step.entry === null && <span class="muted">given</span>}
          </li>
        ))}
      </ol>
    </section>
  );
}

function Suspects({ suspects }: { suspects: Found["suspects"] }) {
  const session = useSession();
  const may = useMayAnswer();
  if (suspects.length === 0) return null;
  return (
    <section>
      <h3>Answers that may be wrong</h3>
      <ul class="plain">
        {suspects.map((suspect) => (
          <li key={`${suspect.entry} ${suspect.rows.join()} ${suspect.kind}`} data-testid="suspect">
            <Words words={suspect.words} rows={suspect.rows} />
            <span class="odds num">{percent(suspect.right)} likely right</span>
            {may && (
              <span class="row">
                <button type="button" aria-label={`Ask again: ${suspect.words}`} onClick={() => void session.asking.askAgain(suspect)}>Ask again</button>
                {suspect.entry !== null && (
                  <button type="button" aria-label={`Drop: ${suspect.words}`} onClick={() => void session.asking.drop(suspect.entry!)}>Drop</button>
                )}
              </span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Unsure({ rows }: { rows: Found["unsure"] }) {
  const session = useSession();
  if (rows.length === 0) return null;
  return (
    <section>
      <h3>Rows between clusters</h3>
      <ul class="names num">
        {rows.map(({ row, name, margin }) => (
          <li key={row}>
            <button type="button" class="link" onClick={() => void session.open(row)}><bdi>{name}</bdi></button> <span class="muted">{share(margin)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** A clue as a sentence, which shows its first row. */
function Words({ words, rows }: { words: string; rows: number[] }) {
  const session = useSession();
  const show = () => session.store.set({ found: rows, card: rows[0] ?? null });
  return <button type="button" class="words" title="Show on the map" onClick={show}><span dir="auto">{words}</span></button>;
}
