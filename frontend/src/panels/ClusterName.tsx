import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ClusterState } from "../api";
import { useSession } from "../state/context";

interface Props {
  cluster: ClusterState;
  suggested: string;
  may: boolean;
}

/** The name of a cluster; pressed, it becomes a field. */
export function ClusterName({ cluster: { id, name }, suggested, may }: Props) {
  const session = useSession();
  const [editing, setEditing] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const left = useRef(false);
  useLayoutEffect(() => {
    if (editing) {
      field.current?.focus();
      field.current?.select();
    }
    else if (left.current) button.current?.focus();
    left.current = editing;
  }, [editing]);

  const title = name ?? `cluster ${id}`;
  if (!may) return <bdi class="title" data-named={name !== null}>{title}</bdi>;
  if (!editing) {
    return (
      <button
        type="button" class="title" data-testid={`name-${id}`} data-named={name !== null} aria-label={`Rename ${title}`} title="Rename"
        ref={button} onClick={() => setEditing(true)}
      ><bdi>{title}</bdi></button>
    );
  }
  const save = () => {
    const given = field.current?.value.trim() ?? "";
    setEditing(false);
    if (given !== "" && given !== name) void session.act({ act: "name", cluster: id, name: given });
  };
  const pressed = (event: KeyboardEvent) => {
    if (event.key === "Enter") save();
    else if (event.key === "Escape") setEditing(false);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <input
      type="text" class="title" dir="auto" maxLength={120} aria-label={`Name of ${title}`} defaultValue={name ?? suggested}
      ref={field} onKeyDown={pressed} onBlur={save}
    />
  );
}
