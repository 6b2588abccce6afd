import { useRef } from "preact/hooks";
import type { QuestionColumn, Row } from "../api";
import type { Asked } from "../state/model";
import { Picture } from "./Picture";

interface Props {
  item: Asked["items"][number];
  columns: QuestionColumn[];
  at: number;
  held: boolean;
  onHold(row: Row): void;
  /** Dropped on a pile; null: out of all piles. */
  onDrop(row: Row, pile: number | null): void;
}

const FACTS = 2;
const DRAG = 4;

/** A row that can be dragged into a pile. */
export function Chip({ item, columns, at, held, onHold, onDrop }: Props) {
  const from = useRef<{ x: number; y: number } | null>(null);
  const facts = columns.filter(({ kind }) => kind !== "image").slice(0, FACTS);

  const down = (event: PointerEvent) => {
    onHold(item.row);
    // Fingers scroll the list; they choose a row and then a pile.
    if (event.pointerType === "touch") return;
    from.current = { x: event.clientX, y: event.clientY };
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
  };
  const move = (event: PointerEvent) => {
    if (!from.current) return;
    const [dx, dy] = [event.clientX - from.current.x, event.clientY - from.current.y];
    if (Math.hypot(dx, dy) < DRAG) return;
    const chip = event.currentTarget as HTMLElement;
    chip.style.transform = `translate(${dx}px, ${dy}px)`;
    chip.dataset.drag = "true";
  };
  const up = (event: PointerEvent) => {
    const chip = event.currentTarget as HTMLElement;
    const dragged = chip.dataset.drag === "true";
    from.current = null;
    chip.style.transform = "";
    delete chip.dataset.drag;
    if (!dragged) return;
    chip.hidden = true;
    const pile = document.elementFromPoint(event.clientX, event.clientY)?.closest<HTMLElement>("[data-pile]");
    chip.hidden = false;
    if (pile) onDrop(item.row, pile.dataset.pile === "0" ? null : Number(pile.dataset.pile) - 1);
  };
  return (
    <button
      type="button" class="chip" data-row={item.row} aria-pressed={held} onFocus={() => onHold(item.row)}
      onPointerDown={down} onPointerMove={move} onPointerUp={up} onPointerCancel={up}
    >
      {item.images.slice(0, 1).map((image) => <Picture key={image} image={image} name={item.name} />)}
      <bdi class="name">{item.name}</bdi>
      {item.images.length === 0 && facts.map((column) => <span class="fact" dir="auto" key={column.name}>{column.cells[at]}</span>)}
    </button>
  );
}
