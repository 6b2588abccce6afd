/** The page in a notebook, for anywidget: the same App; requests travel as messages of the widget's model. */

import { h, render } from "preact";
import { App } from "./App";
import type { Push } from "./api";
import { decodeFrame } from "./state/frames";
import { Session } from "./state/session";
import { Failure, type Listener, type Method, type Transport } from "./state/transport";

interface Model {
  send(content: unknown): void;
  on(event: "msg:custom", handler: (content: Message, buffers: DataView[]) => void): void;
  off(event: "msg:custom", handler: (content: Message, buffers: DataView[]) => void): void;
}

/** An answer to a request, or something that the server pushes: JSON in `push`, a frame in the buffers. */
type Message = { id: number; status: number; json: unknown; type?: string } | { push: Push | null };

interface Reply {
  json: unknown;
  bytes: Blob;
}

class ModelTransport implements Transport {
  private readonly open = new Map<number, { resolve(reply: Reply): void; reject(failure: Failure): void }>();
  private readonly handler = (content: Message, buffers: DataView[]) => this.receive(content, buffers);
  private listener: Listener | null = null;
  private last = 0;

  constructor(private readonly model: Model) {
    model.on("msg:custom", this.handler);
  }

  async ask<T>(method: Method, path: string, body?: unknown): Promise<T> {
    return (await this.send(method, path, body)).json as T;
  }

  async bytes(path: string): Promise<Blob> {
    return (await this.send("GET", path)).bytes;
  }

  listen(listener: Listener): () => void {
    this.listener = listener;
    listener.online(true);
    return () => this.model.off("msg:custom", this.handler);
  }

  private send(method: Method, path: string, body?: unknown): Promise<Reply> {
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      this.open.set(id, { resolve, reject });
      this.model.send({ id, method, path: `/api/${path}`, body: body ?? null });
    });
  }

  private receive(content: Message, buffers: DataView[]): void {
    const parts = buffers.map((view) => copy(view));
    if ("push" in content) {
      if (content.push) this.listener?.push(content.push);
      for (const part of parts) this.listener?.frame(decodeFrame(part));
      return;
    }
    const waiting = this.open.get(content.id);
    this.open.delete(content.id);
    const { status, json } = content;
    if (status < 400) waiting?.resolve({ json, bytes: new Blob(parts, { type: content.type }) });
    else waiting?.reject(new Failure(status, (json as { error?: string } | null)?.error ?? `Status ${status}.`));
  }
}

/** Frames are read as whole buffers, aligned from their start. */
function copy(view: DataView): ArrayBuffer {
  return view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength) as ArrayBuffer;
}

export default {
  render({ model, el }: { model: Model; el: HTMLElement }): () => void {
    const session = new Session(new ModelTransport(model), {});
    render(h(App, { session, keys: el }), el);
    void session.start();
    return () => {
      session.end();
      render(null, el);
    };
  },
};
