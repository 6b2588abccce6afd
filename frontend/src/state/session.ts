/** What the page does: it loads, listens to the server and passes on what people do. */

import type { Act, Card, Cluster, Doubts, Entry, People, Project, Push, Row, State } from "../api";
import { Asking } from "./asking";
import { type Frame, rowsWith } from "./frames";
import { EMPTY, type ColorMode, type Model } from "./model";
import { storage } from "./storage";
import { Store } from "./store";
import { Failure, frameOf, sentence, type Transport } from "./transport";

const LAST = 10;
const SETTLE = 250;

export class Session {
  readonly store: Store<Model>;
  readonly asking: Asking;
  private timer = 0;
  private stop = () => {};
  private readonly cards = new Map<Row, Card>();

  constructor(
    readonly transport: Transport,
    start: Partial<Model>,
  ) {
    this.store = new Store({ ...EMPTY, ...start });
    this.asking = new Asking(this.store, transport, () => this.refreshSoon());
  }

  async start(): Promise<void> {
    try {
      const [project, state] = await Promise.all([
        this.transport.ask<Project>("GET", "project"),
        this.transport.ask<State>("GET", "state"),
      ]);
      const wanted = project.layouts.find(({ id, ready }) => ready && id === this.store.get().layout);
      const layout = (wanted ?? project.layouts.find(({ ready }) => ready))?.id ?? "";
      const tour = project.me.role === "reads" || storage.read("cluewise.tour") ? null : 0;
      this.store.set({ project, state, layouts: project.layouts, layout, tour });
    } catch (error) {
      const link = error instanceof Failure && error.barred;
      const hint = " Open the page with the link that cluewise web printed, or ask whoever sent it for a new one.";
      this.store.set({ fatal: sentence(error) + (link ? hint : "") });
      return;
    }
    this.stop = this.transport.listen({
      push: (push) => this.pushed(push),
      frame: (frame) => this.framed(frame),
      online: (online) => this.connected(online),
    });
    await Promise.all([
      this.asking.start(),
      this.try(() => this.loadPoints()),
      this.try(() => this.loadLabels()),
      this.refresh(),
    ]);
  }

  end(): void {
    this.stop();
    clearTimeout(this.timer);
  }

  // What people do.

  async act(act: Act): Promise<void> {
    await this.change(async () => {
      await this.transport.ask("POST", "acts", act);
      this.store.set({ lasso: [], pile: [] });
    });
  }

  select(id: number, add: boolean): void {
    const { selected } = this.store.get();
    const has = selected.includes(id);
    if (add) this.store.set({ selected: has ? selected.filter((one) => one !== id) : [...selected, id] });
    else this.store.set({ selected: has && selected.length === 1 ? [] : [id] });
  }

  merge(): void {
    const { selected } = this.store.get();
    if (selected.length >= 2) void this.act({ act: "merge", clusters: selected });
    else this.say("Select two or more clusters to merge them.");
  }

  split(): void {
    const { selected } = this.store.get();
    if (selected.length === 1) void this.act({ act: "split", cluster: selected[0]! });
    else this.say("Select one cluster to split it.");
  }

  async open(row: Row | null): Promise<void> {
    this.store.set({ card: row, neighbors: [] });
  }

  async setLayout(layout: string): Promise<void> {
    this.store.set({ layout });
    await this.try(() => this.loadPoints());
  }

  setColor(color: ColorMode): void {
    this.store.set({ color });
  }

  say(words: string, tone: "calm" | "bad" = "calm"): void {
    this.store.set({ notice: { words, tone, redo: false } });
  }

  endTour(): void {
    storage.write("cluewise.tour", "seen");
    this.store.set({ tour: null });
  }

  /** Do it, and say in a sentence if it failed. */
  async try(action: () => Promise<unknown>): Promise<void> {
    try {
      await action();
    } catch (error) {
      // A lost connection is told once, by the banner.
      if (!(error instanceof Failure && error.passes)) this.say(sentence(error), "bad");
    }
  }

  /** The same for what a person changes: the page shows it soon, and tells every failure. */
  async change(action: () => Promise<unknown>): Promise<void> {
    try {
      await action();
      this.refreshSoon();
    } catch (error) {
      this.say(`This was not done: ${sentence(error)}`, "bad");
    }
  }

  async download(path: string, name: string): Promise<void> {
    await this.try(async () => {
      const address = URL.createObjectURL(await this.transport.bytes(path));
      const link = document.createElement("a");
      link.href = address;
      link.download = name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(address), 10_000);
    });
  }

  /** Cards of rows, from memory where they are known; clusters may have changed since, names and cells have not. */
  async rows(rows: Row[], fresh = false): Promise<Card[]> {
    const missing = fresh ? rows : rows.filter((row) => !this.cards.has(row));
    if (missing.length > 0) {
      const cards = await this.transport.ask<Card[]>("GET", `rows?ids=${missing.join(",")}`);
      if (this.cards.size > 2_000) this.cards.clear();
      for (const card of cards) this.cards.set(card.row, card);
    }
    return rows.map((row) => this.cards.get(row)).filter((card) => card !== undefined);
  }

  /** The first rows of the selected clusters. */
  firstRows(limit: number): Row[] {
    const { labels, selected } = this.store.get();
    return labels ? rowsWith(labels.values, selected, limit) : [];
  }

  // What the server says.

  private pushed(push: Push): void {
    if (push.type === "state") {
      const before = this.store.get().state;
      const { state } = push;
      // A server that was started again has no clusters before its first fit: the page shows those that it had.
      this.store.set({ state: before && state.revision === 0 ? { ...state, clusters: before.clusters, noise: before.noise } : state });
      if (state.revision !== before?.revision) this.refreshSoon();
    } else if (push.type === "questions") void this.asking.refill();
    else if (push.type === "profiles") void this.try(() => this.refreshClusters());
    else if (push.type === "layout") {
      const { layouts } = this.store.get();
      const others = layouts.filter(({ id }) => id !== push.layout.id);
      this.store.set({ layouts: [...others, push.layout] });
    } else if (push.type === "entry") {
      const { entries } = this.store.get();
      const others = entries.filter(({ id }) => id !== push.entry.id);
      this.store.set({ entries: [push.entry, ...others].sort((a, b) => b.id - a.id).slice(0, LAST) });
      this.asking.noteEntry(push.entry);
    }
  }

  private framed(frame: Frame): void {
    if (frame.header.type === "labels" && "values" in frame) {
      if (frame.header.revision === 0 && this.store.get().labels !== null) return;
      this.store.set({ labels: { values: frame.values, revision: frame.header.revision, changed: null } });
    } else if (frame.header.type === "changes" && "rows" in frame) {
      const { labels } = this.store.get();
      const { rows, values } = frame;
      const { from, revision } = frame.header;
      if (labels?.revision === from && labels.values.BYTES_PER_ELEMENT === values.BYTES_PER_ELEMENT) {
        rows.forEach((row, i) => (labels.values[row] = values[i]!));
        this.store.set({ labels: { values: labels.values, revision, changed: { rows, values, from } } });
      } else void this.try(() => this.loadLabels());
    }
  }

  private connected(online: boolean): void {
    const before = this.store.get().online;
    this.store.set({ online });
    if (!online || before) return;
    // The server begins with the state and the labels; asked for here, they could overtake what it says next.
    if (this.store.get().points === null) void this.try(() => this.loadPoints());
    void this.asking.refill();
    this.refreshSoon();
  }

  private async loadPoints(): Promise<void> {
    const { layout } = this.store.get();
    if (layout === "") return;
    const frame = await frameOf(this.transport, `layouts/${encodeURIComponent(layout)}`);
    if ("points" in frame && layout === this.store.get().layout) this.store.set({ points: frame.points });
  }

  private async loadLabels(): Promise<void> {
    const before = this.store.get().labels;
    const frame = await frameOf(this.transport, "labels");
    // Labels that the server pushed meanwhile may be newer than these.
    if (this.store.get().labels === before) this.framed(frame);
    else await this.loadLabels();
  }

  /** Soon, and once for several changes in a row. */
  private refreshSoon(): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.refresh(), SETTLE);
  }

  private async refresh(): Promise<void> {
    await Promise.allSettled([
      this.transport.ask<Entry[]>("GET", `answers?last=${LAST}`).then((entries) => this.store.set({ entries })),
      this.transport.ask<Doubts>("GET", "doubts").then((doubts) => this.store.set({ doubts })),
      this.transport.ask<People>("GET", "people").then((people) => this.store.set({ people })),
      this.refreshClusters(),
    ]);
  }

  private async refreshClusters(): Promise<void> {
    const clusters = await this.transport.ask<Cluster[]>("GET", "clusters");
    const { selected, state, clusters: before } = this.store.get();
    if (state?.revision === 0 && before.length > 0) return;
    const left = selected.filter((id) => clusters.some((cluster) => cluster.id === id));
    this.store.set({ clusters, selected: left.length < selected.length ? left : selected });
  }
}
