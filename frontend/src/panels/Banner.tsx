import { useModel, useSession } from "../state/context";
import { count } from "../state/words";

/** One line about what is wrong, or what just happened; never more than one. */
export function Banner() {
  const session = useSession();
  const online = useModel((model) => model.online);
  const kept = useModel((model) => model.kept);
  const stuck = useModel((model) => model.stuck);
  const error = useModel((model) => model.state?.error ?? null);
  const notice = useModel((model) => model.notice);
  const reads = useModel((model) => model.project?.me.role === "reads");

  if (!online || stuck !== null) {
    const answers = kept === 0 ? "Go on: answers are kept in this browser" : `${count(kept, "answer")} kept in this browser`;
    if (online && stuck) return <p class="banner warn" data-testid="banner" role="status"><bdi>{stuck}</bdi> {answers} and sent again.</p>;
    const rest = reads ? "The page shows what it had." : `${answers} and sent when it is back.`;
    // Only answers are kept: a person who does something else has to know that it was not done.
    const failed = notice?.tone === "bad" ? ` ${notice.words}` : "";
    return <p class="banner warn" data-testid="banner" role="status">No connection to cluewise. {rest}{failed}</p>;
  }
  if (error !== null) {
    return (
      <p class="banner bad" data-testid="banner" role="alert">
        <span><bdi>{error}</bdi> All answers are kept; the clusters are those before.</span>
      </p>
    );
  }
  if (notice === null) return null;
  return (
    <p class={`banner ${notice.tone}`} data-testid="banner" role={notice.tone === "bad" ? "alert" : "status"}>
      <span dir="auto">{notice.words}</span>
      {notice.redo && <button type="button" class="link" onClick={() => void session.asking.redo()}>Redo</button>}
      <button type="button" class="link" aria-label="Close this message" onClick={() => session.store.set({ notice: null })}>Close</button>
    </p>
  );
}
