import { useState } from "preact/hooks";
import type { Entry, Value } from "../api";
import { useMayAnswer, useModel, useProject, useSession } from "../state/context";
import { seconds } from "../state/words";

/** The last ten answers and acts; each can be changed or taken back. */
export function Answers() {
  const entries = useModel((model) => model.entries);
  return (
    <div data-testid="last-answers" class="stack">
      {entries.length === 0 && <p class="muted">No answers yet.</p>}
      <ul class="plain entries">{entries.map((entry) => <Line key={entry.id} entry={entry} />)}</ul>
    </div>
  );
}

function Line({ entry }: { entry: Entry }) {
  const session = useSession();
  const may = useMayAnswer();
  const { me } = useProject();
  const mine = may && entry.stands && (entry.who === me.name || me.role === "owner");
  return (
    <li data-testid={`entry-${entry.id}`} data-stands={entry.stands} data-broken={entry.broken}>
      <span class="words" dir="auto">{entry.words}</span>
      <span class="meta num">
        <bdi>{entry.who || "–"}</bdi> · {time(entry.when)}{entry.seconds !== null && ` · ${seconds(entry.seconds)}`}
        {entry.broken && <span class="badge bad">broken</span>}
        {!entry.stands && <span class="badge">taken back</span>}
      </span>
      {mine && (
        <span class="row">
          {entry.kind === "pair" && <PairChoice entry={entry} />}
          {entry.kind === "label" && <LabelChoice entry={entry} />}
          <button type="button" class="quiet" aria-label={`Take back: ${entry.words}`} onClick={() => void session.asking.drop(entry.id)}>Take back</button>
        </span>
      )}
    </li>
  );
}

const PAIR: [Value, string, string][] = [[true, "✓", "same"], [false, "✗", "different"], [null, "?", "don't know"]];

function PairChoice({ entry }: { entry: Entry }) {
  const session = useSession();
  return (
    <span class="segments" role="group" aria-label={`Change: ${entry.words}`}>
      {PAIR.map(([value, sign, words]) => (
        <button
          type="button" key={sign} aria-label={words} title={words} aria-pressed={entry.value === value}
          onClick={() => entry.value !== value && void session.asking.change(entry, value)}
        >{sign}</button>
      ))}
    </span>
  );
}

function LabelChoice({ entry }: { entry: Entry }) {
  const session = useSession();
  const [label, setLabel] = useState(typeof entry.value === "string" ? entry.value : "");
  const submit = (event: Event) => {
    event.preventDefault();
    if (label.trim() !== "" && label.trim() !== entry.value) void session.asking.change(entry, label.trim());
  };
  return (
    <form class="row" onSubmit={submit}>
      <input type="text" dir="auto" aria-label={`Change the class: ${entry.words}`} value={label} onInput={(event) => setLabel(event.currentTarget.value)} />
      <button type="submit" disabled={label.trim() === "" || label.trim() === entry.value}>Change</button>
    </form>
  );
}

function time(when: string): string {
  const date = new Date(when);
  return Number.isNaN(date.getTime()) ? when : date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
}
