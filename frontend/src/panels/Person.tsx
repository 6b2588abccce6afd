import { useRef } from "preact/hooks";
import type { People } from "../api";
import { useModel, useSession } from "../state/context";
import { count, seconds } from "../state/words";

interface Props {
  person: People["people"][number];
  owner: boolean;
  mine: boolean;
}

export function Person({ person, owner, mine }: Props) {
  const session = useSession();
  const dialog = useRef<HTMLDialogElement>(null);
  const { name, role, answers, link } = person;
  const online = useModel((model) => model.state?.people.some((one) => one.name === name && one.online) ?? false);
  const path = `people/${encodeURIComponent(name)}`;
  const copy = async () => {
    await navigator.clipboard.writeText(link!).then(
      () => session.say(`The link of ${name} was copied.`),
      () => session.say(`The browser did not copy it. The link of ${name}: ${link}`),
    );
  };
  const erase = () => {
    dialog.current?.close();
    void session.change(() => session.transport.ask("DELETE", `${path}/answers`));
  };
  return (
    <li data-testid={`person-${name}`}>
      <span class="who">
        <i class="dot" data-on={online} /> <bdi>{name || "–"}</bdi>{mine && <span class="muted"> you</span>}
        <span class="hidden">{online ? "online" : "offline"}</span>
      </span>
      <span class="meta num">{role} · {count(answers, "answer")} · {seconds(person.seconds)} each</span>
      <span class="row">
        {owner && link !== null && <button type="button" aria-label={`Copy link of ${name}`} onClick={() => void copy()}>Copy link</button>}
        {owner && link !== null && !mine && (
          <button type="button" class="quiet" aria-label={`End link of ${name}`} onClick={() => void session.change(() => session.transport.ask("DELETE", path))}>End link</button>
        )}
        {(owner || mine) && answers > 0 && (
          <button type="button" class="quiet" aria-label={`Export the answers of ${name}`} onClick={() => void session.download(`${path}/answers`, `${name}-answers.json`)}>Export</button>
        )}
        {(owner || mine) && answers > 0 && (
          <button type="button" class="quiet bad" aria-label={`Delete the answers of ${name}`} onClick={() => dialog.current?.showModal()}>Delete</button>
        )}
      </span>
      <dialog ref={dialog} aria-label={`Delete the answers of ${name}`}>
        <p>Delete {count(answers, "answer")} of <bdi>{name}</bdi>? They leave the project for good; this cannot be undone.</p>
        <div class="row">
          <button type="button" onClick={() => dialog.current?.close()}>Keep them</button>
          <button type="button" class="danger" data-testid="delete-answers" onClick={erase}>Delete</button>
        </div>
      </dialog>
    </li>
  );
}
