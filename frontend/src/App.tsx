import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { listen, type QuestionKeys } from "./keys";
import { Banner } from "./panels/Banner";
import { Clusters } from "./panels/Clusters";
import { Header } from "./panels/Header";
import { Keys } from "./panels/Keys";
import { MapPanel } from "./panels/MapPanel";
import { Question } from "./panels/Question";
import { Side } from "./panels/Side";
import { Tabs } from "./panels/Tabs";
import { Tour } from "./panels/Tour";
import { SessionContext } from "./state/context";
import type { Session } from "./state/session";
import { useStore } from "./state/store";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/layout.css";
import "./styles/question.css";
import "./styles/map.css";
import "./styles/lists.css";

export function App({ session, keys }: { session: Session; keys: Document | HTMLElement }) {
  const question = useRef<QuestionKeys | null>(null);
  const ready = useStore(session.store, (model) => model.project !== null);
  const fatal = useStore(session.store, (model) => model.fatal);
  const tab = useStore(session.store, (model) => model.tab);
  // Not `useEffect`, which waits for the first paint: a key that is pressed before it would do nothing.
  useLayoutEffect(() => listen(keys, session, () => question.current), [keys, session]);
  useEffect(() => followMedia(session), [session]);

  return (
    <SessionContext.Provider value={session}>
      <div class="cluewise">
        {fatal !== null && (
          <main class="fatal" role="alert">
            <h1>cluewise</h1>
            <p>{fatal}</p>
          </main>
        )}
        {fatal === null && !ready && <main class="fatal" aria-busy="true"><h1>cluewise</h1><p>Loading…</p></main>}
        {fatal === null && ready && (
          <div class="shell" data-tab={tab}>
            <Header />
            <Banner />
            <main class="grid">
              <Question keys={question} />
              <Side />
              <MapPanel />
              <Clusters />
            </main>
            <Tabs />
            <Keys />
            <Tour />
          </div>
        )}
      </div>
    </SessionContext.Provider>
  );
}

/** Dark or light, and whether things may move: as the person set their system. */
function followMedia(session: Session): () => void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const follow = () => session.store.set({ dark: dark.matches, calm: calm.matches });
  follow();
  dark.addEventListener("change", follow);
  calm.addEventListener("change", follow);
  return () => {
    dark.removeEventListener("change", follow);
    calm.removeEventListener("change", follow);
  };
}
