/** How the page talks to the server: over HTTP and a WebSocket, or through the model of a notebook. */

import type { Push } from "../api";
import { decodeFrame, type Frame } from "./frames";

export interface Listener {
  push(push: Push): void;
  frame(frame: Frame): void;
  /** The connection is there, or lost. */
  online(online: boolean): void;
}

export interface Transport {
  /** The JSON that the server answers; throws a `Failure`. */
  ask<T>(method: Method, path: string, body?: unknown): Promise<T>;
  bytes(path: string): Promise<Blob>;
  listen(listener: Listener): () => void;
}

export type Method = "GET" | "POST" | "PUT" | "DELETE";

/** A request that did not succeed: status 0 if the server was not reached. */
export class Failure extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }

  /** Whether the same request may succeed later. */
  get passes(): boolean {
    return this.status === 0 || this.status >= 500 || this.status === 429;
  }

  /** Whether the link of this person does not work, or does not allow this. */
  get barred(): boolean {
    return this.status === 401 || this.status === 403;
  }
}

export async function frameOf(transport: Transport, path: string): Promise<Frame> {
  return decodeFrame(await (await transport.bytes(path)).arrayBuffer());
}

export function sentence(error: unknown): string {
  return error instanceof Failure ? error.message : `The page failed: ${String(error)}`;
}
