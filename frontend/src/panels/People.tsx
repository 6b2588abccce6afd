import { useState } from "preact/hooks";
import type { People as Found, Role } from "../api";
import { useModel, useProject, useSession } from "../state/context";
import { count, percent } from "../state/words";
import { Person } from "./Person";

/** Who answers, how far they agree, and links for more people. */
export function People() {
  const people = useModel((model) => model.people);
  const { me } = useProject();
  const owner = me.role === "owner";
  if (people === null) return <p class="muted" data-testid="people">Loading…</p>;
  return (
    <div data-testid="people" class="stack">
      <ul class="plain">
        {people.people.map((person) => <Person key={person.name} person={person} owner={owner} mine={person.name === me.name} />)}
      </ul>
      {owner && <Invite />}
      <Agreement people={people} />
      {owner && <Overlap overlap={people.overlap} />}
    </div>
  );
}

function Invite() {
  const session = useSession();
  const [name, setName] = useState("");
  const [role, setRole] = useState<Role>("answers");
  const submit = (event: Event) => {
    event.preventDefault();
    if (name.trim() === "") return;
    setName("");
    void session.change(() => session.transport.ask("POST", "people", { name: name.trim(), role }));
  };
  return (
    <form class="row invite" onSubmit={submit}>
      <input type="text" data-testid="invite-name" dir="auto" aria-label="Name of the person" placeholder="Name" value={name} onInput={(event) => setName(event.currentTarget.value)} />
      <select aria-label="What the link allows" value={role} onChange={(event) => setRole(event.currentTarget.value as Role)}>
        <option value="answers">answers</option>
        <option value="reads">reads</option>
      </select>
      <button type="submit" data-testid="invite" disabled={name.trim() === ""}>New link</button>
    </form>
  );
}

function Agreement({ people }: { people: Found }) {
  if (people.agreement.length === 0) {
    return <p class="muted">Agreement is known once two people were asked the same.</p>;
  }
  return (
    <table class="num">
      <caption>Agreement</caption>
      <tbody>
        {people.agreement.map(({ a, b, both, alike }) => (
          <tr key={`${a}\n${b}`}>
            <th scope="row"><bdi>{a}</bdi> and <bdi>{b}</bdi></th>
            <td>{both === 0 ? "–" : percent(alike)}</td>
            <td class="muted">of {count(both, "question")}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Overlap({ overlap }: { overlap: number }) {
  const session = useSession();
  const save = (event: Event) => {
    const share = Number((event.currentTarget as HTMLInputElement).value) / 100;
    void session.change(() => session.transport.ask("POST", "settings", { overlap: share }));
  };
  return (
    <label class="overlap">
      <span>Questions that somebody else is asked, too: <strong class="num">{percent(overlap)}</strong></span>
      <input type="range" data-testid="overlap" min={0} max={100} step={5} value={Math.round(100 * overlap)} onChange={save} />
    </label>
  );
}
