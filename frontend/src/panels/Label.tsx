import { useState } from "preact/hooks";
import { Answer } from "./Answer";
import { Compare } from "./Compare";
import type { Ask } from "./Question";

/** Which class a row is of: one that is known, or a new one. */
export function Label({ question, answer, keys }: Ask) {
  const [name, setName] = useState("");
  keys.current = (key) => {
    const chosen = question.classes[Number(key) - 1];
    if (key === " " || key === "?") answer(null);
    else if (/^[1-9]$/.test(key) && chosen !== undefined) answer(chosen);
    else return false;
    return true;
  };
  const submit = (event: Event) => {
    event.preventDefault();
    if (name.trim() !== "") answer(name.trim());
  };
  return (
    <>
      <Compare question={question} />
      <div class="choices" role="group" aria-label="Classes">
        {question.classes.map((label, i) => (
          <Answer key={label} hint={i < 9 ? String(i + 1) : "·"} testid={`choice-${i + 1}`} onAnswer={() => answer(label)}>{label}</Answer>
        ))}
      </div>
      <div class="answers">
        <form class="new" onSubmit={submit}>
          <input
            type="text" aria-label="Name of another class" placeholder="Another class…" dir="auto" value={name}
            data-testid="class" onInput={(event) => setName(event.currentTarget.value)}
          />
          <button type="submit" disabled={name.trim() === ""}>Add</button>
        </form>
        <Answer hint="Space" testid="answer-unsure" tone="unsure" onAnswer={() => answer(null)}>Don't know</Answer>
      </div>
    </>
  );
}
