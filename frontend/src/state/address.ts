/** The address bar: the token leaves it at once, and what is selected stays in it. */

import type { ColorMode, Model } from "./model";
import type { Store } from "./store";

const TOKEN = "cluewise.token";
const COLORS: ColorMode[] = ["cluster", "known", "confidence", "doubt", "source"];

export function takeToken(): string {
  const address = new URL(location.href);
  const given = address.searchParams.get("token");
  if (given !== null) {
    sessionStorage.setItem(TOKEN, given);
    address.searchParams.delete("token");
    history.replaceState(null, "", address);
  }
  return sessionStorage.getItem(TOKEN) ?? "";
}

export function readHash(): Partial<Model> {
  const hash = new URLSearchParams(location.hash.slice(1));
  const color = COLORS.find((mode) => mode === hash.get("color")) ?? "cluster";
  const selected = (hash.get("clusters") ?? "").split(",").filter((id) => /^\d+$/.test(id)).map(Number);
  return { color, selected, layout: hash.get("layout") ?? "" };
}

/** Keep the hash as the page is, and the page as the hash is when a person goes back or edits it. */
export function followHash(store: Store<Model>, changed: (model: Partial<Model>) => void): void {
  store.watch(() => {
    const { color, selected, layout, layouts } = store.get();
    const hash = new URLSearchParams();
    if (selected.length > 0) hash.set("clusters", selected.join(","));
    if (color !== "cluster") hash.set("color", color);
    if (layout !== "" && layout !== layouts[0]?.id) hash.set("layout", layout);
    const text = hash.toString().replaceAll("%2C", ",");
    if (text !== location.hash.slice(1)) history.replaceState(null, "", text ? `#${text}` : location.pathname);
  });
  window.addEventListener("hashchange", () => changed(readHash()));
}
