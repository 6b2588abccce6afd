import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Row } from "../api";
import { count } from "../state/words";
import { Answer } from "./Answer";
import { Chip } from "./Chip";
import type { Ask } from "./Question";

const MOST = 9;

/** Rows to sort into piles: drag them, click a row and then a pile, or press the number of a pile. */
export function Group({ question, answer, keys }: Ask) {
  const [piles, setPiles] = useState<Row[][]>([[], []]);
  const [held, setHeld] = useState<Row | null>(question.items[0]?.row ?? null);
  const [said, setSaid] = useState("");
  const root = useRef<HTMLDivElement>(null);
  /** What gets the focus after the next change. */
  const next = useRef<string | null>(null);
  const open = question.items.filter(({ row }) => !piles.some((pile) => pile.includes(row)));

  const put = (row: Row, at: number | null) => {
    const left = piles.map((pile) => pile.filter((other) => other !== row));
    if (at !== null) left[at] = [...(left[at] ?? []), row];
    // One empty pile is always there for what fits nowhere.
    if (left.every((pile) => pile.length > 0) && left.length < MOST) left.push([]);
    setPiles(left);
    const following = open.filter((item) => item.row !== row)[0];
    const name = question.items.find((item) => item.row === row)?.name ?? "";
    setSaid(at === null ? `${name} is in no pile` : `${name} is in pile ${at + 1}`);
    const focused = at !== null && following ? following.row : row;
    setHeld(focused);
    // When every row is in a pile, Enter presses the button that says so.
    next.current = at !== null && !following ? "[data-testid=answer-done]" : `[data-row="${focused}"]`;
  };
  useLayoutEffect(() => {
    if (next.current !== null) root.current?.parentElement?.querySelector<HTMLElement>(next.current)?.focus();
    next.current = null;
  }, [piles]);
  const done = () => {
    const filled = piles.filter((pile) => pile.length > 0);
    if (filled.length > 0) answer(filled);
  };
  keys.current = (key) => {
    const at = Number(key) - 1;
    if (key === " " || key === "?") answer(null);
    else if (key === "Enter") done();
    else if (key === "0" && held !== null) put(held, null);
    else if (/^[1-9]$/.test(key) && held !== null && at < piles.length) put(held, at);
    else return false;
    return true;
  };
  const chip = (row: Row) => {
    const at = question.items.findIndex((item) => item.row === row);
    const item = question.items[at];
    if (!item) return null;
    return <Chip key={row} item={item} columns={question.columns} at={at} held={held === row} onHold={setHeld} onDrop={put} />;
  };
  return (
    <>
      <div class="sort" ref={root}>
        <div class="pile open" data-pile="0" data-testid="pile-0" role="group" aria-label="Rows in no pile">
          {open.map(({ row }) => chip(row))}
          {open.length === 0 && <p class="muted">Every row is in a pile.</p>}
        </div>
        <div class="piles">
          {piles.map((pile, i) => (
            <div class="pile" key={i} data-pile={i + 1} data-testid={`pile-${i + 1}`} role="group" aria-label={`Pile ${i + 1}, ${count(pile.length, "row")}`}>
              <button type="button" class="into" disabled={held === null} onClick={() => held !== null && put(held, i)}>
                <kbd aria-hidden="true">{i + 1}</kbd> {pile.length === 0 ? "new pile" : `pile ${i + 1}`}
              </button>
              {pile.map(chip)}
            </div>
          ))}
        </div>
        <p class="hidden" role="status">{said}</p>
      </div>
      <div class="answers" role="group" aria-label="Answer">
        <Answer hint="Enter" testid="answer-done" tone="same" disabled={open.length === question.items.length} onAnswer={done}>
          {open.length > 0 ? `Done, ${open.length} left open` : "Done"}
        </Answer>
        <Answer hint="Space" testid="answer-unsure" tone="unsure" onAnswer={() => answer(null)}>Don't know</Answer>
      </div>
    </>
  );
}
