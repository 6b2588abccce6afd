import type { Entry } from "../api";
import { useModel, useSession } from "../state/context";
import type { Told } from "../state/model";
import { percent, valueWords } from "../state/words";

/** Below the question: what the model would have said to the last one, and the last answers at a glance. */
export function Recent() {
  const session = useSession();
  const told = useModel((model) => model.told);
  const entries = useModel((model) => model.entries);
  const open = () => session.store.set({ side: "answers", tab: session.store.get().tab === "question" ? "question" : "answers" });
  return (
    <footer class="recent">
      <p class="guess" data-testid="guess" role="status">{told ? guess(told) : ""}</p>
      <div class="row">
        <button type="button" class="marks" aria-label="Last answers: show and change them" onClick={open}>
          {entries.length === 0 && <span class="muted">no answers yet</span>}
          {[...entries].reverse().map((entry) => (
            <span key={entry.id} data-value={mark(entry)} data-stands={entry.stands} data-broken={entry.broken} title={entry.words}>{SIGNS[mark(entry)]}</span>
          ))}
        </button>
        <button type="button" class="quiet" data-testid="answer-undo" onClick={() => void session.asking.undo()}>
          <kbd aria-hidden="true">⌫</kbd> Undo
        </button>
      </div>
    </footer>
  );
}

const SIGNS = { same: "✓", different: "✗", unsure: "?", label: "●", act: "◆" };

function mark({ kind, value }: Entry): keyof typeof SIGNS {
  if (kind === "act") return "act";
  if (value === null) return "unsure";
  if (value === false) return "different";
  return value === true ? "same" : "label";
}

function guess({ question, value, guess }: Told): string {
  const name = (row: number) => question.items.find((item) => item.row === row)?.name ?? `row ${row}`;
  const words = (said: typeof value) => (said === false && question.kind !== "pair" ? "none of these" : valueWords(said, name));
  const yours = `You said: ${words(value)}.`;
  if (guess === null) return yours;
  return `${yours} cluewise would have said: ${words(guess.value)}, ${percent(guess.probability)}.`;
}
