import { useModel, useSession } from "../state/context";
import type { Model, Tab } from "../state/model";

const TABS: [Tab, string][] = [
  ["question", "Question"], ["map", "Map"], ["clusters", "Clusters"], ["doubts", "Doubts"], ["answers", "Answers"], ["people", "People"],
];

/** The panels on a narrow page, one at a time. */
export function Tabs() {
  const session = useSession();
  const tab = useModel((model) => model.tab);
  const doubts = useModel((model) => (model.state ? model.state.doubts + model.state.contradictions : 0));
  const show = (next: Tab) => {
    const change: Partial<Model> = { tab: next };
    if (next === "doubts" || next === "answers" || next === "people") change.side = next;
    session.store.set(change);
  };
  return (
    <nav class="tabs" aria-label="Panels">
      {TABS.map(([id, title]) => (
        <button
          type="button" key={id} data-testid={`panel-${id}`} aria-current={tab === id ? "page" : undefined} onClick={() => show(id)}
        >
          {title}
          {id === "doubts" && doubts > 0 && <span class="count num">{doubts}</span>}
        </button>
      ))}
    </nav>
  );
}
