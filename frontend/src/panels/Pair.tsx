import { Answer } from "./Answer";
import { Compare } from "./Compare";
import type { Ask } from "./Question";

export function Pair({ question, answer, keys }: Ask) {
  keys.current = (key) => {
    if (key === "a" || key === "y") answer(true);
    else if (key === "x" || key === "n") answer(false);
    else if (key === " " || key === "?") answer(null);
    else return false;
    return true;
  };
  return (
    <>
      <Compare question={question} />
      <div class="answers" role="group" aria-label="Answer">
        <Answer hint="A" testid="answer-same" tone="same" onAnswer={() => answer(true)}>Same</Answer>
        <Answer hint="X" testid="answer-different" tone="different" onAnswer={() => answer(false)}>Different</Answer>
        <Answer hint="Space" testid="answer-unsure" tone="unsure" onAnswer={() => answer(null)}>Don't know</Answer>
      </div>
    </>
  );
}
