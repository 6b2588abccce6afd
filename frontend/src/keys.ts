/** Keys: the same as in the terminal and in Prodigy. They never fire while a person types. */

import type { Session } from "./state/session";

export const KEYS: [string[], string][] = [
  [["A", "Y"], "same: they belong together"],
  [["X", "N"], "different: they do not"],
  [["Space", "?"], "don't know"],
  [["1", "…", "9"], "this choice, this class or this pile"],
  [["0"], "none of these; out of its pile"],
  [["Enter"], "piles are done"],
  [["⌫", "U"], "undo the last answer or act"],
  [["R"], "redo what was undone"],
  [["G"], "merge the selected clusters"],
  [["K"], "split the selected cluster"],
  [["/"], "search rows"],
  [["←", "→", "+", "−"], "move and zoom the map, when it has the focus"],
  [["Esc"], "close a card, clear a selection"],
  [["H", "F1"], "this list"],
];

const FIELDS = "input:not([type=checkbox], [type=range]), textarea, select";

/** What a question makes of a key; true if it used it. */
export type QuestionKeys = (key: string) => boolean;

export function listen(target: Document | HTMLElement, session: Session, question: () => QuestionKeys | null): () => void {
  const pressed = (event: Event) => {
    if (!(event instanceof KeyboardEvent) || event.defaultPrevented) return;
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || typing(event.target)) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    // Space and Enter press the button that has the focus.
    if ((key === " " || key === "Enter") && pressable(event.target)) return;
    if (question()?.(key) || common(key, session)) event.preventDefault();
  };
  target.addEventListener("keydown", pressed);
  return () => target.removeEventListener("keydown", pressed);
}

function common(key: string, session: Session): boolean {
  const { store } = session;
  const reads = store.get().project?.me.role === "reads";
  if (key === "h" || key === "F1") store.set({ help: !store.get().help });
  else if (key === "Escape") escape(session);
  else if (key === "/") document.querySelector<HTMLElement>(".cluewise [type=search]")?.focus();
  else if (reads) return false;
  else if (key === "Backspace" || key === "u") void session.asking.undo();
  else if (key === "r") void session.asking.redo();
  else if (key === "g") session.merge();
  else if (key === "k") session.split();
  else return false;
  return true;
}

/** Close what is on top. */
function escape(session: Session): void {
  const { help, tour, card, lasso } = session.store.get();
  if (help) session.store.set({ help: false });
  else if (tour !== null) session.endTour();
  else if (card !== null) void session.open(null);
  else if (lasso.length > 0) session.store.set({ lasso: [] });
  else session.store.set({ selected: [], found: [] });
}

function typing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches(FIELDS));
}

function pressable(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("button, a, summary, [type=checkbox]") !== null;
}
