import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Card } from "../api";
import { useClusterName, useSession } from "../state/context";
import { share } from "../state/words";
import type { Hover } from "./MapPanel";
import { Picture } from "./Picture";
import { Swatch } from "./Swatch";

const WAIT = 50;
const CELLS = 5;
const WIDTH = 240;

/** A row under the pointer, in short; a click shows all of it. */
export function HoverCard({ hover, host }: { hover: Hover; host: RefObject<HTMLElement> }) {
  const session = useSession();
  const name = useClusterName();
  const [card, setCard] = useState<Card | null>(null);
  useEffect(() => {
    let current = true;
    const timer = setTimeout(() => {
      session.rows([hover.row]).then(([found]) => current && setCard(found ?? null), () => {});
    }, WAIT);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [hover.row]);
  if (card?.row !== hover.row || !host.current) return null;
  const box = host.current.getBoundingClientRect();
  const [x, y] = [hover.x - scrollX - box.left, hover.y - scrollY - box.top];
  const left = Math.max(8, Math.min(x + 16, box.width - WIDTH - 8));
  const style = y > box.height / 2 ? { left, bottom: box.height - y + 12 } : { left, top: y + 12 };
  return (
    <div class="hover" style={style} aria-hidden="true">
      <p class="head"><bdi>{card.name}</bdi></p>
      <p class="of num">
        {card.cluster !== null && <Swatch id={card.cluster} />} <bdi>{name(card.cluster)}</bdi> <span class="muted">sure {share(card.margin)}</span>
      </p>
      {card.images.slice(0, 1).map((image) => <Picture key={image} image={image} name={card.name} />)}
      <dl class="num">
        {card.cells.filter(({ kind }) => kind !== "image").slice(0, CELLS).map((cell) => (
          <div key={cell.column}><dt><bdi>{cell.column}</bdi></dt><dd dir="auto">{cell.text}</dd></div>
        ))}
      </dl>
    </div>
  );
}
