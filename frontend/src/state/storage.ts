/** What the browser keeps for us; a browser that forbids it keeps nothing, and the page still works. */

export const storage = {
  names(prefix: string): string[] {
    return attempt(() => Object.keys(localStorage).filter((name) => name.startsWith(prefix))) ?? [];
  },
  read<T>(name: string): T | null {
    return attempt(() => JSON.parse(localStorage.getItem(name) ?? "null") as T);
  },
  write(name: string, value: unknown): void {
    attempt(() => localStorage.setItem(name, JSON.stringify(value)));
  },
  remove(name: string): void {
    attempt(() => localStorage.removeItem(name));
  },
};

function attempt<T>(action: () => T): T | null {
  try {
    return action();
  } catch {
    return null;
  }
}
