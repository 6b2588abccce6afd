import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Value } from "../api";
import type { QuestionKeys } from "../keys";
import { useMayAnswer, useModel, useSession } from "../state/context";
import type { Asked } from "../state/model";
import { questionKey } from "../state/outbox";
import { Group } from "./Group";
import { Label } from "./Label";
import { NoQuestion } from "./NoQuestion";
import { Pair } from "./Pair";
import { Recent } from "./Recent";
import { useSwipe } from "./swipe";
import { Which } from "./Which";

/** What each kind of question needs. */
export interface Ask {
  question: Asked;
  answer(value: Value): void;
  keys: RefObject<QuestionKeys | null>;
}

const BODIES = { pair: Pair, label: Label, which: Which, group: Group };
const LEAVE = 120;

export function Question({ keys }: { keys: RefObject<QuestionKeys | null> }) {
  const session = useSession();
  const may = useMayAnswer();
  const question = useModel((model) => model.questions[0]);
  const calm = useModel((model) => model.calm);
  const panel = useRef<HTMLElement>(null);
  const card = useRef<HTMLDivElement>(null);
  const title = useRef<HTMLHeadingElement>(null);
  /** The button that had the focus when the last question was answered. */
  const focused = useRef<string | null>(null);
  const key = question && questionKey(question);

  const answer = (value: Value) => {
    const active = document.activeElement as HTMLElement | null;
    focused.current = panel.current?.contains(active) ? (active?.dataset.testid ?? null) : null;
    if (!calm) leave(card.current, value);
    session.asking.answer(value);
  };
  useSwipe(card, question?.kind === "pair" && may, answer);
  useLayoutEffect(() => {
    if (!question) keys.current = null;
    // The button that was pressed has gone with its question: the focus goes to the same one of the next.
    if (question?.replaces != null) return title.current?.focus({ preventScroll: true });
    if (document.activeElement !== document.body || key === undefined) return;
    const same = panel.current?.querySelector<HTMLElement>(`[data-testid="${focused.current}"]`);
    (same ?? title.current)?.focus({ preventScroll: true });
  }, [key]);

  if (!question || !may) {
    return (
      <section class="panel question" data-testid="question" aria-label="Question" ref={panel}>
        <NoQuestion />
        {may && <Recent />}
      </section>
    );
  }
  const Body = BODIES[question.kind];
  return (
    <section class="panel question" data-testid="question" data-kind={question.kind} data-rows={question.rows.join(" ")} aria-label="Question" ref={panel}>
      <div class="asked" ref={card} key={key}>
        <p class="eyebrow num">
          {question.number > 0 ? `Question ${question.number}` : "Question"}
          {question.again && <span class="badge">asked again</span>}
        </p>
        <h2 tabIndex={-1} ref={title} dir="auto">{question.words}</h2>
        <Body question={question} answer={answer} keys={keys} />
      </div>
      <p class="why"><span class="muted">Why this question:</span> <span dir="auto">{question.why}</span></p>
      <Recent />
    </section>
  );
}

/** A copy of the card slides out while the next question is already there. */
function leave(card: HTMLElement | null, value: Value): void {
  if (!card?.parentElement) return;
  const ghost = card.cloneNode(true) as HTMLElement;
  ghost.inert = true;
  ghost.setAttribute("aria-hidden", "true");
  ghost.classList.add("ghost");
  for (const part of ghost.querySelectorAll("[data-testid], [id]")) {
    part.removeAttribute("data-testid");
    part.removeAttribute("id");
  }
  ghost.style.top = `${card.offsetTop}px`;
  ghost.style.height = `${card.offsetHeight}px`;
  card.parentElement.append(ghost);
  const to = value === null ? "0, -24px" : value === false ? "-32px, 0" : "32px, 0";
  ghost.animate([{ opacity: 1 }, { opacity: 0, transform: `translate(${to})` }], { duration: LEAVE, easing: "ease-in" });
  setTimeout(() => ghost.remove(), LEAVE);
}
