import type { QuestionColumn } from "../api";

/** A cell as text, whatever is in it. */
export function Cell({ text }: { text: string }) {
  if (text === "") return <span class="muted">–</span>;
  return <span dir="auto">{text}</span>;
}

/** A text; words that all items of the question share step back. */
export function TextCell({ column, at }: { column: QuestionColumn; at: number }) {
  const shared = commonWords(column.cells);
  const text = column.cells[at] ?? "";
  return (
    <div class="text">
      <h4><bdi>{column.name}</bdi></h4>
      <p dir="auto">
        {pieces(text).map((piece, i) => (shared.has(piece.toLowerCase()) ? <span class="common" key={i}>{piece}</span> : piece))}
        {text === "" && <span class="muted">–</span>}
      </p>
    </div>
  );
}

function pieces(text: string): string[] {
  return text.split(/([\p{L}\p{N}\p{M}'’]+)/u);
}

function commonWords(cells: string[]): Set<string> {
  if (cells.length < 2) return new Set();
  const words = (text: string) => new Set(pieces(text).filter((_, i) => i % 2 === 1).map((word) => word.toLowerCase()));
  return cells.map(words).reduce((common, next) => new Set([...common].filter((word) => next.has(word))));
}
