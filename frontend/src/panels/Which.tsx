import type { QuestionColumn } from "../api";
import { Answer } from "./Answer";
import { Cell } from "./Cell";
import { Picture } from "./Picture";
import type { Ask } from "./Question";

const FACTS = 4;

/** To which of these rows the first one belongs. */
export function Which({ question, answer, keys }: Ask) {
  const choices = question.items.slice(1);
  keys.current = (key) => {
    const chosen = choices[Number(key) - 1];
    if (key === " " || key === "?") answer(null);
    else if (key === "0" || key === "x" || key === "n") answer(false);
    else if (/^[1-9]$/.test(key) && chosen) answer(chosen.row);
    else return false;
    return true;
  };
  const columns = question.columns.filter(({ kind }) => kind !== "image");
  const first = question.items[0]!;
  return (
    <>
      <article class="target">
        {first.images.slice(0, 1).map((image) => <Picture key={image} image={image} name={first.name} />)}
        <div class="told">
          <h3><bdi>{first.name}</bdi></h3>
          <Facts columns={columns.slice(0, FACTS)} at={0} />
        </div>
      </article>
      <div class="cards" role="group" aria-label="Rows to choose from">
        {choices.map((item, i) => (
          <button type="button" class="choice" key={item.row} data-testid={`choice-${i + 1}`} onClick={() => answer(item.row)}>
            <span class="name"><kbd aria-hidden="true">{i + 1}</kbd> <bdi>{item.name}</bdi></span>
            {item.images.slice(0, 1).map((image) => <Picture key={image} image={image} name={item.name} />)}
            <Facts columns={columns.slice(0, FACTS)} at={i + 1} />
          </button>
        ))}
      </div>
      <div class="answers" role="group" aria-label="Answer">
        <Answer hint="0" testid="answer-none" tone="different" onAnswer={() => answer(false)}>None of these</Answer>
        <Answer hint="Space" testid="answer-unsure" tone="unsure" onAnswer={() => answer(null)}>Don't know</Answer>
      </div>
    </>
  );
}

function Facts({ columns, at }: { columns: QuestionColumn[]; at: number }) {
  return (
    <span class="factlist num">
      {columns.map((column) => (
        <span class="fact" key={column.name} data-kind={column.kind}>
          <bdi class="muted">{column.name}</bdi> <Cell text={column.cells[at] ?? ""} />
        </span>
      ))}
    </span>
  );
}
