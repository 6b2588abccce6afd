/** Passes on to the map what the page knows. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { Link, Row } from "../api";
import type { MapView } from "../map/types";
import { useModel, useSession } from "../state/context";
import { nothing, type Frame, type Values } from "../state/frames";
import { clusterLooks, rampLooks } from "../state/looks";
import type { ColorMode, Labels } from "../state/model";
import { frameOf } from "../state/transport";

/** The values that rows are colored by, other than clusters. */
export interface Channel {
  mode: ColorMode;
  values: Values;
  legend: string[];
}

interface Drawn {
  labels: Labels | null;
  look: string;
  points: Float32Array | null;
}

const NOTHING: Drawn = { labels: null, look: "", points: null };
const NONE: Row[] = [];
const HOLLOW = 127;
const MOST_LINKS = 2_000;

export function useMapData(view: MapView | null): Channel | null {
  const points = useModel((model) => model.points);
  const layout = useModel((model) => model.layout);
  const placed = useRef("");
  useEffect(() => {
    if (!view || !points) return;
    view.setPoints(points, placed.current === layout);
    placed.current = layout;
  }, [view, points]);
  const channel = useColors(view, points);
  useRims(view, points);
  useMarks(view, points);
  useLinks(view);
  return channel;
}

function useColors(view: MapView | null, points: Float32Array | null): Channel | null {
  const session = useSession();
  const color = useModel((model) => model.color);
  const labels = useModel((model) => model.labels);
  const selected = useModel((model) => model.selected);
  const dark = useModel((model) => model.dark);
  const revision = useModel((model) => model.state?.revision);
  const [channel, setChannel] = useState<Channel | null>(null);
  /** Labels that are on the map, to pass on only what changed since. */
  const drawn = useRef<Drawn>(NOTHING);

  useEffect(() => {
    if (color === "cluster") return setChannel(null);
    let current = true;
    void session.try(async () => {
      const found = readChannel(await frameOf(session.transport, `channels/${color}`), color);
      if (current) setChannel(found);
    });
    return () => { current = false; };
  }, [color, revision]);

  useEffect(() => {
    if (!view || !points || color !== "cluster" || !labels) return;
    const look = `${selected.join()} ${dark}`;
    const { changed, values } = labels;
    const before = drawn.current;
    if (before.labels === labels && before.look === look && before.points === points) return;
    // Changes that came at once are not passed on one by one.
    const next = changed !== null && before.labels?.revision === changed.from && before.points === points;
    if (next && before.look === look) view.changeValues(changed.rows, changed.values);
    else view.setValues(values, clusterLooks(looksNeeded(values), dark, selected));
    drawn.current = { labels, look, points };
  }, [view, points, labels, color, selected, dark]);

  useEffect(() => {
    if (!view || !points || !channel || channel.mode !== color) return;
    const ramp = color === "confidence" || color === "doubt";
    view.setValues(channel.values, ramp ? rampLooks(color, dark) : clusterLooks(channel.legend.length, dark, []));
    drawn.current = NOTHING;
  }, [view, points, channel, color, dark]);
  return channel;
}

/** Known labels have a filled rim, rows of doubtful clues are hollow. */
function useRims(view: MapView | null, points: Float32Array | null): void {
  const session = useSession();
  const revision = useModel((model) => model.state?.revision);
  useEffect(() => {
    if (!view || !points) return;
    let current = true;
    void session.try(async () => {
      const read = async (name: ColorMode) => readChannel(await frameOf(session.transport, `channels/${name}`), name)?.values;
      const [known, doubt] = await Promise.all([read("known"), read("doubt")]);
      if (current && known && doubt) {
        view.setRims(flags(known, (value) => value >= 0), flags(doubt, (value) => value > HOLLOW));
      }
    });
    return () => { current = false; };
  }, [view, points, revision]);
}

/** New points have no marks yet. */
function useMarks(view: MapView | null, points: Float32Array | null): void {
  const question = useModel((model) => model.questions[0]?.rows ?? NONE);
  const card = useModel((model) => model.card);
  const neighbors = useModel((model) => model.neighbors);
  const found = useModel((model) => model.found);
  const lasso = useModel((model) => model.lasso);
  useEffect(() => view?.setMarks("found", found), [view, points, found]);
  useEffect(() => view?.setMarks("selected", lasso), [view, points, lasso]);
  useEffect(() => view?.setMarks("neighbor", neighbors), [view, points, neighbors]);
  useEffect(() => view?.setMarks("focus", card === null ? NONE : [card]), [view, points, card]);
  useEffect(() => view?.setMarks("question", question), [view, points, question]);
}

function useLinks(view: MapView | null): void {
  const session = useSession();
  const on = useModel((model) => model.links);
  const revision = useModel((model) => model.state?.revision);
  useEffect(() => {
    if (!view) return;
    if (!on) return view.setLinks([]);
    let current = true;
    void session.try(async () => {
      const { links } = await session.transport.ask<{ links: Link[] }>("GET", `links?broken=0&limit=${MOST_LINKS}`);
      if (current) view.setLinks(links.map(({ rows: [a, b], must, broken }) => ({ a, b, must, broken })));
    });
    return () => { current = false; };
  }, [view, on, revision]);
}

function readChannel(frame: Frame, mode: ColorMode): Channel | null {
  if (frame.header.type !== "channel" || !("values" in frame)) return null;
  return { mode, values: frame.values, legend: frame.header.legend };
}

/** 1 for rows whose value, −1 for nothing, passes. */
function flags(values: Values, passes: (value: number) => boolean): Uint8Array {
  const none = nothing(values);
  return Uint8Array.from(values, (value) => (passes(value === none ? -1 : value) ? 1 : 0));
}

/** Ids in one byte all get a look at once, so that a new cluster needs no new looks. */
function looksNeeded(values: Values): number {
  if (values instanceof Uint8Array) return 255;
  let largest = 0;
  for (const value of values) if (value !== 65535 && value > largest) largest = value;
  return largest + 256;
}
