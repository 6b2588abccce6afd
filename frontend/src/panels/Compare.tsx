import { useLayoutEffect, useRef } from "preact/hooks";
import type { QuestionColumn } from "../api";
import type { Asked } from "../state/model";
import { count } from "../state/words";
import { Cell, TextCell } from "./Cell";
import { Picture } from "./Picture";

/** The items of a question side by side, what differs most first. */
export function Compare({ question }: { question: Asked }) {
  const { items, columns, more_columns } = question;
  const texts = columns.filter(({ kind }) => kind === "text");
  const rest = columns.filter(({ kind }) => kind !== "text" && kind !== "image");
  const several = items.length > 1;
  const root = useRef<HTMLDivElement>(null);
  // What fits need not scroll, so that a swipe up is an answer there, too.
  useLayoutEffect(() => {
    const { scrollHeight, clientHeight, dataset } = root.current!;
    dataset.fits = String(scrollHeight <= clientHeight);
  });
  /** Pictures and texts stand above the table, with the names of their rows. */
  const tall = texts.length > 0 || items.some(({ images }) => images.length > 0);
  return (
    <div class="compare" ref={root} tabIndex={0} role="group" aria-label="What is known about the rows">
      {tall && <div class="items">
        {items.map((item, at) => (
          <article key={item.row} class="item">
            <h3><bdi>{item.name}</bdi></h3>
            {item.images.map((image) => <Picture key={image} image={image} name={item.name} />)}
            {texts.map((column) => <TextCell key={column.name} column={column} at={at} />)}
          </article>
        ))}
      </div>}
      {rest.length > 0 && (
        <table class="cells num">
          <thead class={tall ? "hidden" : ""}>
            <tr>
              <th scope="col"><span class="hidden">Column</span></th>
              {items.map((item) => <th scope="col" key={item.row}><bdi>{item.name}</bdi></th>)}
              {several && <th scope="col" class="apart">apart</th>}
            </tr>
          </thead>
          <tbody>{rest.map((column) => <Line key={column.name} column={column} several={several} />)}</tbody>
        </table>
      )}
      {more_columns > 0 && <p class="more">{count(more_columns, "more column")} with less to tell</p>}
    </div>
  );
}

function Line({ column, several }: { column: QuestionColumn; several: boolean }) {
  return (
    <tr data-kind={column.kind} data-large={column.large} data-equal={column.apart === "="}>
      <th scope="row"><bdi>{column.name}</bdi></th>
      {column.cells.map((text, at) => <td key={at}><Cell text={text} /></td>)}
      {several && <td class="apart">{column.apart}{column.large && <span class="hidden"> (a large difference)</span>}</td>}
    </tr>
  );
}
