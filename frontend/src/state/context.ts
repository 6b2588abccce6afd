/** The session of this page, for its components. */

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { ClusterId, Project } from "../api";
import { clusterLook } from "./looks";
import type { Model } from "./model";
import type { Session } from "./session";
import { useStore } from "./store";

export const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
  return useContext(SessionContext)!;
}

export function useModel<S>(select: (model: Model) => S): S {
  return useStore(useSession().store, select);
}

/** Panels are drawn only once the project is there. */
export function useProject(): Project {
  return useModel((model) => model.project)!;
}

export function useMayAnswer(): boolean {
  return useProject().me.role !== "reads";
}

/** The name of a cluster, as a person gave it, or by its id. */
export function useClusterName(): (id: ClusterId | null) => string {
  const state = useModel((model) => model.state);
  return (id) => {
    if (id === null) return "no cluster";
    return state?.clusters.find((cluster) => cluster.id === id)?.name ?? `cluster ${id}`;
  };
}

export function useLook(id: ClusterId) {
  const dark = useModel((model) => model.dark);
  return clusterLook(id, dark);
}
