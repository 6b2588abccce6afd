import { useModel, useSession } from "../state/context";
import type { Model } from "../state/model";
import { Answers } from "./Answers";
import { Doubts } from "./Doubts";
import { People } from "./People";

const SIDES: [Model["side"], string][] = [["doubts", "Doubts"], ["answers", "Last answers"], ["people", "People"]];

/** Below the question: what is doubtful, what was said, and who said it. */
export function Side() {
  const session = useSession();
  const side = useModel((model) => model.side);
  const doubts = useModel((model) => (model.state ? model.state.doubts + model.state.contradictions : 0));
  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const at = SIDES.findIndex(([id]) => id === side);
    const next = SIDES[(at + step + SIDES.length) % SIDES.length]![0];
    session.store.set({ side: next });
    (event.currentTarget as HTMLElement).querySelector<HTMLElement>(`#side-${next}`)?.focus();
  };
  return (
    <section class="panel side" aria-label="Doubts, last answers and people">
      <div class="heads" role="tablist" aria-label="Doubts, last answers or people" onKeyDown={move}>
        {SIDES.map(([id, title]) => (
          <button
            type="button" role="tab" key={id} id={`side-${id}`} data-testid={`tab-${id}`} aria-selected={side === id}
            aria-controls="side" tabIndex={side === id ? 0 : -1} onClick={() => session.store.set({ side: id })}
          >
            {title}
            {id === "doubts" && doubts > 0 && <span class="count num">{doubts}</span>}
          </button>
        ))}
      </div>
      <div class="scroll" role="tabpanel" id="side" aria-labelledby={`side-${side}`} tabIndex={0}>
        {side === "doubts" && <Doubts />}
        {side === "answers" && <Answers />}
        {side === "people" && <People />}
      </div>
    </section>
  );
}
