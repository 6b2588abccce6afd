import { useModel } from "../state/context";
import { count, percent } from "../state/words";

/** Did the clues help? Clues that were held out say so. */
export function Helped() {
  const helped = useModel((model) => model.state?.helped ?? null);
  const broken = useModel((model) => model.state?.broken ?? 0);
  const clues = useModel((model) => model.state?.clues ?? 0);
  return (
    <section class="helped" data-testid="helped" aria-label="Did the clues help?">
      <h3>Did the clues help?</h3>
      {helped === null && <p class="muted">There are too few clues to tell yet.</p>}
      {helped && (
        <>
          <dl class="num">
            <Line title="with clues" value={helped.with} strong />
            <Line title="without" value={helped.without} />
          </dl>
          <p class="muted num">of {count(helped.clues, "held-out clue")} kept</p>
        </>
      )}
      {clues > 0 && <p class="muted num">{broken === 0 ? `All ${count(clues, "clue")} kept.` : `${broken} of ${count(clues, "clue")} broken.`}</p>}
    </section>
  );
}

function Line({ title, value, strong = false }: { title: string; value: number; strong?: boolean }) {
  return (
    <div data-strong={strong}>
      <dt>{title}</dt>
      <dd><meter min={0} max={1} value={value} aria-label={`Clues kept ${title}`} /> {percent(value)}</dd>
    </div>
  );
}
