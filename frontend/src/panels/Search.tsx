import { useEffect, useState } from "preact/hooks";
import type { Row } from "../api";
import type { MapView } from "../map/types";
import { useSession } from "../state/context";
import { count } from "../state/words";

interface Found {
  total: number;
  rows: { row: Row; name: string; where: string }[];
}

const WAIT = 150;
const LIMIT = 50;

export function Search({ view }: { view: MapView | null }) {
  const session = useSession();
  const [text, setText] = useState("");
  const [found, setFound] = useState<Found | null>(null);
  const [open, setOpen] = useState(false);

  useEffect(() => {
    const query = text.trim();
    if (query === "") {
      setFound(null);
      session.store.set({ found: [] });
      return;
    }
    let current = true;
    const timer = setTimeout(() => {
      void session.try(async () => {
        const result = await session.transport.ask<Found>("GET", `search?q=${encodeURIComponent(query)}&limit=${LIMIT}`);
        if (!current) return;
        setFound(result);
        session.store.set({ found: result.rows.map(({ row }) => row) });
      });
    }, WAIT);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [text]);

  const show = (row: Row) => {
    void session.open(row);
    view?.show([row]);
    setOpen(false);
  };
  const pressed = (event: KeyboardEvent) => {
    if (event.key === "Escape") {
      event.preventDefault();
      if (text === "") (event.target as HTMLElement).blur();
      setText("");
      setOpen(false);
    } else if (event.key === "Enter" && event.target instanceof HTMLInputElement && found?.rows[0]) show(found.rows[0].row);
  };
  const left = (event: FocusEvent) => {
    if (!(event.currentTarget as HTMLElement).contains(event.relatedTarget as Node | null)) setOpen(false);
  };
  return (
    <div class="search" role="search" onKeyDown={pressed} onFocusOut={left}>
      <input
        type="search" data-testid="search" aria-label="Search rows" placeholder="Search rows…" dir="auto" value={text}
        onInput={(event) => { setText(event.currentTarget.value); setOpen(true); }} onFocus={() => setOpen(true)}
      />
      {open && found && (
        <div class="sheet">
          <p class="muted num" role="status">{found.total === 0 ? "No row has this." : count(found.total, "row")}</p>
          <ul>
            {found.rows.map(({ row, name, where }) => (
              <li key={row}>
                <button type="button" onClick={() => show(row)}><bdi>{name}</bdi> <span class="muted" dir="auto">{where}</span></button>
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}
