/** A value that components watch. */

import { useEffect, useReducer, useRef } from "preact/hooks";

export class Store<T extends object> {
  private readonly watchers = new Set<() => void>();

  constructor(private value: T) {}

  get(): T {
    return this.value;
  }

  set(change: Partial<T>): void {
    this.value = { ...this.value, ...change };
    for (const watcher of [...this.watchers]) watcher();
  }

  watch(watcher: () => void): () => void {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  }
}

/** The part of the store that `select` picks; the component is drawn again when that part is another one. */
export function useStore<T extends object, S>(store: Store<T>, select: (value: T) => S): S {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const seen = useRef<S>();
  const latest = useRef(select);
  latest.current = select;
  seen.current = select(store.get());
  useEffect(() => {
    const check = () => {
      if (!Object.is(latest.current(store.get()), seen.current)) redraw(undefined);
    };
    // What changed between drawing and watching would be missed otherwise.
    check();
    return store.watch(check);
  }, [store]);
  return seen.current;
}
