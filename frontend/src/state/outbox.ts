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
  private turn: Promise<string | null> = Promise.resolve(null);
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

  /** Take back the last answer, unless the server has it or is getting it. */
  async takeBack(): Promise<Kept | null> {
    // An undo on the server must not overtake the answer.
    if (this.busy && this.list.length === 1) await this.turn;
    if (this.list.length === 0 || (this.busy && this.list.length === 1)) return null;
    const kept = this.list.pop()!;
    storage.remove(this.mine + kept.said.nonce);
    this.events.waiting(this.list.length, null);
    return kept;
  }

  /** Send what is here, one answer after the other, unless that is going on. */
  async send(): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    clearTimeout(this.timer);
    let stuck: string | null = null;
    this.events.waiting(this.list.length, stuck);
    try {
      while (this.list.length > 0 && stuck === null) {
        this.turn = this.sendFirst();
        stuck = await this.turn;
        this.events.waiting(this.list.length, stuck);
      }
    } finally {
      this.busy = false;
    }
    if (stuck !== null) this.timer = window.setTimeout(() => void this.send(), RETRY);
  }

  /** Why the first answer has to wait, if it does; an empty text if the server was not reached. */
  private async sendFirst(): Promise<string | null> {
    const kept = this.list[0]!;
    try {
      const heard = await this.post(kept);
      this.done();
      this.events.heard(kept, heard);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (error.passes || error.barred) return error.status === 0 ? "" : error.message;
      this.done();
      this.events.refused(kept, error);
    }
    return null;
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
