import { useModel, useProject, useSession } from "../state/context";
import { count, percent } from "../state/words";
import { ExportMenu } from "./ExportMenu";

export function Header() {
  const session = useSession();
  const project = useProject();
  const state = useModel((model) => model.state)!;
  const help = useModel((model) => model.help);
  const online = state.people.filter((person) => person.online);
  return (
    <header class="top">
      <h1>
        <Mark /> <span class="brand">cluewise <span class="sep" aria-hidden="true">/</span></span> <bdi class="file">{project.name}</bdi>
      </h1>
      <ul class="facts num" aria-label="Where the project stands">
        <li>{count(project.rows, "row")}</li>
        <li>{count(state.clusters.length, "cluster")}</li>
        <li>{count(state.answers, "answer")}</li>
        {state.trust !== null && <li title="Share of the clues that seem right">trust {percent(state.trust)}</li>}
      </ul>
      {project.me.role === "reads" && <span class="badge">read only</span>}
      {online.length > 1 && (
        <ul class="faces" aria-label={`${count(online.length, "person", "people")} online`}>
          {online.slice(0, 4).map(({ name }) => <li key={name} title={`${name} is online`}><bdi>{name.slice(0, 2)}</bdi></li>)}
          {online.length > 4 && <li>+{online.length - 4}</li>}
        </ul>
      )}
      <ExportMenu />
      <button
        type="button" class="icon" aria-label="Keys and help" aria-expanded={help} title="Keys (h)"
        onClick={() => session.store.set({ help: !help })}
      >?</button>
    </header>
  );
}

function Mark() {
  return (
    <svg class="mark" viewBox="0 0 16 16" aria-hidden="true">
      <circle cx="4" cy="5" r="2.6" /><circle cx="12" cy="5" r="2.6" /><circle class="other" cx="8" cy="12" r="2.6" />
      <path d="M4 5h8" />
    </svg>
  );
}
