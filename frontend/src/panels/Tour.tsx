import { useEffect, useRef } from "preact/hooks";
import { useModel, useSession } from "../state/context";

const STEPS = [
  { at: "question", title: "Say what you know",
    words: "cluewise asks where your answer changes most. Press A for same, X for different and Space when you don't know: that is a good answer, too." },
  { at: "map", title: "Watch it count",
    words: "Every row is a point. After an answer the clusters are found anew, and the rows that moved glow. Click a row to see it, draw around rows with Shift." },
  { at: "clusters", title: "Name, merge, split, lock",
    words: "What you do to a cluster becomes a clue and survives every refit. Everything can be undone with Backspace; doubtful answers are listed for a second look." },
];

export function Tour() {
  const session = useSession();
  const step = useModel((model) => model.tour);
  const root = useRef<HTMLElement>(null);
  useEffect(() => {
    if (step !== null) root.current?.focus();
  }, [step]);
  if (step === null) return null;
  const { at, title, words } = STEPS[step]!;
  const last = step === STEPS.length - 1;
  const next = () => (last ? session.endTour() : session.store.set({ tour: step + 1 }));
  const pressed = (event: KeyboardEvent) => {
    if (event.target !== root.current || (event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    next();
  };
  return (
    <aside
      class="tour" data-testid="tour" data-at={at} aria-label={`Tour, step ${step + 1} of ${STEPS.length}`} tabIndex={-1}
      ref={root} onKeyDown={pressed}
    >
      <p class="step num">{step + 1} of {STEPS.length}</p>
      <h2>{title}</h2>
      <p>{words}</p>
      <div class="row">
        <button type="button" class="link" data-testid="tour-skip" onClick={() => session.endTour()}>Skip</button>
        <button type="button" class="primary" data-testid="tour-next" onClick={next}>{last ? "Start" : "Next"}</button>
      </div>
    </aside>
  );
}
