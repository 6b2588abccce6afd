/** The transport of the page: fetch with the token, and a WebSocket that comes back by itself. */

import type { Push } from "../api";
import { decodeFrame } from "./frames";
import { Failure, type Listener, type Method, type Transport } from "./transport";

const SHORTEST_WAIT = 500;
const LONGEST_WAIT = 5_000;
const LASTING = 5_000;
/** Longer than a page in the background waits for its timers. */
const SLEPT = 90_000;

export class HttpTransport implements Transport {
  private readonly base = new URL(".", document.baseURI);
  private reached = () => {};

  constructor(private readonly token: string) {}

  async ask<T>(method: Method, path: string, body?: unknown): Promise<T> {
    const response = await this.fetch(method, path, body);
    return unlessCut(response.json() as Promise<T>);
  }

  async bytes(path: string): Promise<Blob> {
    return unlessCut((await this.fetch("GET", path)).blob());
  }

  listen(listener: Listener): () => void {
    let socket: WebSocket | null = null;
    let wait = SHORTEST_WAIT;
    let timer = 0;
    let opened = Infinity;
    let ended = false;

    const connect = () => {
      clearTimeout(timer);
      const address = new URL("api/live", this.base);
      address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
      socket = new WebSocket(address);
      socket.binaryType = "arraybuffer";
      socket.onopen = () => {
        opened = Date.now();
        socket?.send(JSON.stringify({ token: this.token }));
        listener.online(true);
      };
      socket.onmessage = ({ data }) => {
        if (typeof data === "string") listener.push(JSON.parse(data) as Push);
        else listener.frame(decodeFrame(data as ArrayBuffer));
      };
      socket.onclose = () => {
        socket = null;
        if (ended) return;
        listener.online(false);
        // A server that hangs up at once is not asked again and again.
        if (Date.now() - opened > LASTING) wait = SHORTEST_WAIT;
        opened = Infinity;
        // Many pages that lost the same server do not come back in the same moment.
        timer = window.setTimeout(connect, wait * (0.75 + Math.random() / 2));
        wait = Math.min(2 * wait, LONGEST_WAIT);
      };
    };
    // A laptop that wakes up does not wait for the timer.
    const wake = () => {
      if (socket === null && document.visibilityState === "visible") connect();
    };
    const lost = () => listener.online(false);
    // A connection from before a lost network or a long sleep may look open and be dead.
    const renew = () => {
      if (socket !== null) socket.onclose = null;
      socket?.close();
      connect();
    };
    let seen = Date.now();
    const watch = window.setInterval(() => {
      if (Date.now() - seen > SLEPT) renew();
      seen = Date.now();
    }, LASTING);
    // A request that was answered shows that the server is back.
    this.reached = wake;
    window.addEventListener("online", renew);
    window.addEventListener("offline", lost);
    document.addEventListener("visibilitychange", wake);
    connect();
    return () => {
      ended = true;
      clearTimeout(timer);
      clearInterval(watch);
      window.removeEventListener("online", renew);
      window.removeEventListener("offline", lost);
      document.removeEventListener("visibilitychange", wake);
      socket?.close();
    };
  }

  private async fetch(method: Method, path: string, body?: unknown): Promise<Response> {
    const headers: Record<string, string> = { Authorization: `Bearer ${this.token}` };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    const response = await unlessCut(
      fetch(new URL(`api/${path}`, this.base), {
        method,
        headers,
        body: body === undefined ? undefined : JSON.stringify(body),
        cache: "no-store",
      }),
    );
    this.reached();
    if (response.ok) return response;
    const said = (await response.json().catch(() => ({}))) as { error?: string };
    throw new Failure(response.status, said.error ?? `The server answered with status ${response.status}.`);
  }
}

/** A line that is cut while the answer is on its way is a server that was not reached. */
async function unlessCut<T>(coming: Promise<T>): Promise<T> {
  try {
    return await coming;
  } catch {
    throw new Failure(0, "The server cannot be reached.");
  }
}
