/** Answers on their way to the server, kept in the browser until it has them. */

import type { Heard, Said } from "../api";
import { storage } from "./storage";
import { Failure, type Transport } from "./transport";

/** An answer, and the earlier answer that it replaces, if any. */
export interface Kept {
  said: Said;
  replaces: number | null;
  /** Milliseconds, for the order. */
  when: number;
}

export interface OutboxEvents {
  heard(kept: Kept, heard: Heard): void;
  /** The server refuses this answer for good. */
  refused(kept: Kept, failure: Failure): void;
  /** How many wait, and why the last attempt failed; an empty text if it did not reach the server. */
  waiting(count: number, stuck: string | null): void;
}

const PREFIX = "cluewise.kept.";
const RETRY = 2_000;

export class Outbox {
  private readonly list: Kept[] = [];
  private busy = false;
  private timer = 0;
  private readonly mine: string;

  constructor(
    private readonly transport: Transport,
    private readonly events: OutboxEvents,
    project: string,
    person: string,
  ) {
    this.mine = `${PREFIX}${project}.${person}.`;
    // Answers to other projects, which may have had the same address, wait until these are open again.
    for (const name of storage.names(this.mine)) {
      const kept = storage.read<Kept>(name);
      if (kept === null) storage.remove(name);
      else this.list.push(kept);
    }
    this.list.sort((a, b) => a.when - b.when);
  }

  get count(): number {
    return this.list.length;
  }

  /** Whether an answer to this question is on its way. */
  has(key: string): boolean {
    return this.list.some(({ said }) => questionKey(said) === key);
  }

  add(kept: Kept): void {
    this.list.push(kept);
    storage.write(this.mine + kept.said.nonce, kept);
    void this.send();
  }

  /** Take back the last answer, unless it is being sent. */
  takeBack(): Kept | null {
    if (this.list.length === 0 || (this.busy && this.list.length === 1)) return null;
    const kept = this.list.pop()!;
    storage.remove(this.mine + kept.said.nonce);
    this.events.waiting(this.list.length, null);
    return kept;
  }

  /** Resolves when nothing is being sent. */
  async send(): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    clearTimeout(this.timer);
    let stuck: string | null = null;
    this.events.waiting(this.list.length, stuck);
    while (this.list.length > 0 && stuck === null) {
      const kept = this.list[0]!;
      try {
        const heard = await this.post(kept);
        this.done();
        this.events.heard(kept, heard);
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        if (error.passes || error.barred) stuck = error.status === 0 ? "" : error.message;
        else {
          this.done();
          this.events.refused(kept, error);
        }
      }
      this.events.waiting(this.list.length, stuck);
    }
    this.busy = false;
    if (stuck !== null) this.timer = window.setTimeout(() => void this.send(), RETRY);
  }

  private post({ said, replaces }: Kept): Promise<Heard> {
    if (replaces === null) return this.transport.ask("POST", "answers", said);
    const { value, seconds, nonce } = said;
    return this.transport.ask("PUT", `answers/${replaces}`, { value, seconds, nonce });
  }

  private done(): void {
    const kept = this.list.shift()!;
    storage.remove(this.mine + kept.said.nonce);
  }
}

export function questionKey(question: { kind: string; rows: number[] }): string {
  return `${question.kind} ${question.rows.join(" ")}`;
}

/** Distinguishes answers; not `crypto.randomUUID`, which pages on plain HTTP do not have. */
export function newNonce(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
