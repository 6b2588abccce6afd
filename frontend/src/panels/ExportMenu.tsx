import { useEffect, useRef, useState } from "preact/hooks";
import { useSession } from "../state/context";

const FILES: [string, string[]][] = [
  ["Answers", ["answers.csv", "answers.parquet", "answers.json"]],
  ["Clusters, a line for each row", ["clusters.csv", "clusters.parquet", "clusters.json"]],
  ["The whole project, for cluewise fit --project", ["project.cluewise"]],
  ["A report to mail", ["report.html"]],
];

export function ExportMenu() {
  const session = useSession();
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!open) return;
    const outside = (event: Event) => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener("pointerdown", outside);
    return () => document.removeEventListener("pointerdown", outside);
  }, [open]);

  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  const pressed = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || !open) return;
    event.preventDefault();
    close();
  };
  return (
    <div class="menu" ref={root} onKeyDown={pressed}>
      <button type="button" ref={button} data-testid="export" aria-expanded={open} onClick={() => setOpen(!open)}>Export</button>
      {open && (
        <div class="sheet" role="group" aria-label="Export">
          {FILES.map(([title, names]) => (
            <section key={title}>
              <h3>{title}</h3>
              <div class="row">
                {names.map((name) => (
                  <button
                    type="button" key={name} aria-label={`Download ${name}`}
                    onClick={() => { void session.download(`export/${name}`, name); close(); }}
                  >{name.split(".")[1]}</button>
                ))}
              </div>
            </section>
          ))}
        </div>
      )}
    </div>
  );
}
