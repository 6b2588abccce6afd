import { useMayAnswer, useModel, useSession } from "../state/context";
import { count } from "../state/words";

/** Why there is no question, and what to do instead. */
export function NoQuestion() {
  const session = useSession();
  const may = useMayAnswer();
  const state = useModel((model) => model.state)!;
  const online = useModel((model) => model.online);
  const kept = useModel((model) => model.kept);
  if (!may) {
    return (
      <div class="rest">
        <h2>You are watching</h2>
        <p>This link can read, but not answer. Map, clusters and doubts change as others answer; to answer yourself, ask for a link that allows it.</p>
      </div>
    );
  }
  if (!online) {
    return (
      <div class="rest">
        <h2>No more questions for now</h2>
        <p>{kept > 0 ? `${count(kept, "answer")} kept in this browser.` : ""} The next questions come when the connection is back.</p>
      </div>
    );
  }
  if (state.settled === null) {
    return <div class="rest"><h2>The next question is being chosen…</h2></div>;
  }
  return (
    <div class="rest settled">
      <p class="eyebrow">Settled</p>
      <h2>Nothing left that is worth asking</h2>
      <p dir="auto">{state.settled}</p>
      <ul>
        {state.doubts > 0 && (
          <li>
            <button type="button" class="link" onClick={() => session.store.set({ side: "doubts", tab: "doubts" })}>
              Look at {count(state.doubts, "doubtful answer")}
            </button>
          </li>
        )}
        <li>Name the clusters, or split one that looks like two.</li>
        <li>Export the clusters; the answers stay in the project.</li>
      </ul>
    </div>
  );
}
