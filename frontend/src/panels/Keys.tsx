import { useLayoutEffect, useRef } from "preact/hooks";
import { KEYS } from "../keys";
import { useModel, useSession } from "../state/context";

/** All keys, beside the page and not over a question that waits. */
export function Keys() {
  const session = useSession();
  const help = useModel((model) => model.help);
  const root = useRef<HTMLElement>(null);
  // Before the browser paints, so that a key pressed at once does not find the focus lost.
  useLayoutEffect(() => {
    if (!help) return;
    const before = document.activeElement;
    root.current?.focus();
    return () => before instanceof HTMLElement && before.focus();
  }, [help]);
  if (!help) return null;
  return (
    <aside class="keys" data-testid="keys" aria-label="Keys" tabIndex={-1} ref={root}>
      <header>
        <h2>Keys</h2>
        <button type="button" class="link" onClick={() => session.store.set({ help: false, tour: 0 })}>Show the tour</button>
        <button type="button" class="icon" aria-label="Close the keys" onClick={() => session.store.set({ help: false })}>×</button>
      </header>
      <dl>
        {KEYS.map(([keys, words]) => (
          <div key={words}>
            <dt>{keys.map((key) => <kbd key={key}>{key}</kbd>)}</dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
      <p>On a phone, swipe the question: right for same, left for different, up for don't know.</p>
      <p>On the map, drag with Shift to draw around rows; Ctrl or ⌘ adds, Alt removes.</p>
    </aside>
  );
}
