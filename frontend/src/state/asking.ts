/** Questions and answers: the next question is there before the last answer has reached the server. */

import type { Card, Doubts, Entry, Heard, Question, QuestionKind, Row, Value } from "../api";
import type { Asked, Model } from "./model";
import { newNonce, Outbox, questionKey, type Kept } from "./outbox";
import type { Store } from "./store";
import { Failure, sentence, type Transport } from "./transport";

const AHEAD = 3;
const REMEMBERED = 20;

export class Asking {
  private outbox: Outbox | null = null;
  private shown = performance.now();
  /** How many answers the server has acknowledged. */
  private acknowledged = 0;
  /** Questions of the last answers, to show them again after an undo. */
  private readonly answered: Asked[] = [];

  constructor(
    private readonly store: Store<Model>,
    private readonly transport: Transport,
    private readonly changed: () => void,
  ) {}

  async start(): Promise<void> {
    const { project } = this.store.get();
    if (!project || project.me.role === "reads") return;
    this.outbox = new Outbox(
      this.transport,
      {
        heard: (kept, heard) => this.heard(kept, heard),
        refused: (_, failure) => this.refused(failure),
        waiting: (kept, stuck) => this.store.set({ kept, stuck }),
      },
      project.key,
      project.me.name,
    );
    await this.outbox.send();
    await this.refill();
  }

  /** Ask for the next questions, and send what is still here. */
  async refill(): Promise<void> {
    if (!this.outbox) return;
    void this.outbox.send();
    const before = this.acknowledged;
    try {
      const fresh = await this.transport.ask<Question[]>("GET", `questions?count=${AHEAD}`);
      // The server may have chosen these before it heard an answer that is acknowledged by now, and ask the same again.
      if (this.acknowledged === before) this.take(fresh);
      else await this.refill();
    } catch (error) {
      // A lost connection is told once, by the banner.
      if (!(error instanceof Failure && error.passes)) this.say(sentence(error), "bad");
    }
  }

  answer(value: Value): void {
    const [question, ...rest] = this.store.get().questions;
    if (!question || !this.outbox) return;
    this.answered.push(question);
    if (this.answered.length > REMEMBERED) this.answered.shift();
    const seconds = Math.round((performance.now() - this.shown) / 100) / 10;
    this.show(rest, { told: { question, value, guess: null }, notice: null });
    const { kind, rows, why, replaces } = question;
    this.outbox.add({ said: { kind, rows, why, value, seconds, nonce: newNonce() }, replaces, when: Date.now() });
  }

  async undo(): Promise<void> {
    const unsent = await this.outbox?.takeBack();
    if (unsent) {
      this.again(unsent.said);
      this.say("Taken back before it was sent.", "calm");
      return;
    }
    await this.step("undo");
  }

  redo(): Promise<void> {
    return this.step("redo");
  }

  /** Another value for an earlier answer. */
  async change(entry: Entry, value: Value): Promise<void> {
    await this.attempt(async () => {
      const heard = await this.transport.ask<Heard>("PUT", `answers/${entry.id}`, { value });
      this.take(heard.questions);
      this.say("The answer was changed.", "calm");
    });
  }

  async drop(entry: number): Promise<void> {
    await this.attempt(async () => {
      await this.transport.ask("DELETE", `answers/${entry}`);
      this.say("The answer was dropped.", "calm", true);
    });
  }

  /** Ask a question again that was answered before: the new answer takes the place of the old one. */
  async askAgain(suspect: Doubts["suspects"][number]): Promise<void> {
    await this.attempt(async () => {
      const cards = await this.transport.ask<Card[]>("GET", `rows?ids=${suspect.rows.join(",")}`);
      const [kind, words] =
        suspect.kind === "label"
          ? (["label", `Which class is ${cards[0]?.name} of?`] as const)
          : (["pair", `Do ${cards.map(({ name }) => name).join(" and ")} belong together?`] as const);
      const question = fromCards(cards, kind, words, "the answer so far is doubtful.");
      const names = this.store.get().clusters.map(({ name }) => name);
      question.classes = kind === "label" ? names.filter((name) => name !== null) : [];
      this.ask({ ...question, again: true, replaces: suspect.entry });
    });
  }

  /** Ask a person to sort rows that they chose into piles. */
  async askToSort(rows: Row[]): Promise<void> {
    await this.attempt(async () => {
      const cards = await this.transport.ask<Card[]>("GET", `rows?ids=${rows.join(",")}`);
      this.ask(fromCards(cards, "group", "Which of these belong together?", "you chose these rows on the map."));
      this.store.set({ lasso: [] });
    });
  }

  /** What this person answers in another tab is not asked here any more; news of this tab's own answers may come late. */
  noteEntry(entry: Entry): void {
    const { project, questions } = this.store.get();
    const key = questionKey(entry);
    if (!entry.stands || entry.who !== project?.me.name || this.answered.some((own) => questionKey(own) === key)) return;
    const rest = questions.filter((question) => question.replaces !== null || questionKey(question) !== key);
    if (rest.length === questions.length) return;
    this.show(rest);
    void this.refill();
  }

  private ask(question: Asked): void {
    this.show([question, ...this.store.get().questions], { tab: "question" });
  }

  private async step(way: "undo" | "redo"): Promise<void> {
    await this.attempt(async () => {
      const { entry } = await this.transport.ask<{ entry: Entry | null }>("POST", way);
      if (entry === null) {
        this.say(way === "undo" ? "There is nothing to take back." : "There is nothing to do again.", "calm");
        return;
      }
      if (way === "undo") this.again(entry);
      else this.show(this.store.get().questions.filter((q) => questionKey(q) !== questionKey(entry)));
      this.say(`${way === "undo" ? "Taken back" : "Done again"}: ${entry.words}`, "calm", way === "undo");
    });
  }

  private again(taken: { kind: string; rows: number[] }): void {
    const key = questionKey(taken);
    const question = [...this.answered].reverse().find((answered) => questionKey(answered) === key);
    const rest = this.store.get().questions.filter((waiting) => questionKey(waiting) !== key);
    if (question) this.show([question, ...rest], { told: null });
  }

  private heard(kept: Kept, heard: Heard): void {
    this.acknowledged += 1;
    const { told } = this.store.get();
    if (told && questionKey(told.question) === questionKey(kept.said)) this.store.set({ told: { ...told, guess: heard.guess } });
    this.take(heard.questions);
    this.changed();
  }

  private refused(failure: Failure): void {
    this.say(`An answer was not taken: ${failure.message}`, "bad");
    void this.refill();
  }

  /** Questions from the server; the one on the screen stays, and those whose answers are on their way do not come back. */
  private take(fresh: Question[]): void {
    const [current] = this.store.get().questions;
    const again = current && questionKey(current);
    const open = fresh.filter((q) => questionKey(q) !== again && !this.outbox?.has(questionKey(q)));
    const asked = open.map((question) => ({ ...question, replaces: null }));
    this.show(current ? [current, ...asked] : asked);
  }

  private show(questions: Asked[], more: Partial<Model> = {}): void {
    if (questions[0] !== this.store.get().questions[0]) this.shown = performance.now();
    this.store.set({ questions, ...more });
  }

  private async attempt(action: () => Promise<void>): Promise<void> {
    try {
      await action();
      this.changed();
    } catch (error) {
      this.say(sentence(error), "bad");
    }
  }

  private say(words: string, tone: "calm" | "bad", redo = false): void {
    this.store.set({ notice: { words, tone, redo } });
  }
}

/** A question that the page asks by itself. */
function fromCards(cards: Card[], kind: QuestionKind, words: string, why: string): Asked {
  const columns = (cards[0]?.cells ?? []).map(({ column, kind }, at) => {
    const cells = cards.map((card) => card.cells[at]?.text ?? "");
    return { name: column, kind, cells, apart: new Set(cells).size > 1 ? "" : "=", large: false };
  });
  return {
    kind,
    rows: cards.map(({ row }) => row),
    words,
    why,
    number: 0,
    again: false,
    items: cards.map(({ row, name, images }) => ({ row, name, images })),
    columns: [...columns.filter(({ apart }) => apart !== "="), ...columns.filter(({ apart }) => apart === "=")],
    more_columns: 0,
    classes: [],
    replaces: null,
  };
}
