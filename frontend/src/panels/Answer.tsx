import type { ComponentChildren } from "preact";

interface Props {
  children: ComponentChildren;
  hint: string;
  testid: string;
  tone?: "same" | "different" | "unsure";
  disabled?: boolean;
  onAnswer(): void;
}

/** A button that answers, with its key. */
export function Answer({ children, hint, testid, tone, disabled, onAnswer }: Props) {
  const clicked = (event: MouseEvent) => {
    // After a click Space means "don't know" again, and not this button; whoever came by keyboard stays on it.
    if (event.detail > 0) (event.currentTarget as HTMLElement).blur();
    onAnswer();
  };
  return (
    <button type="button" class="answer" data-tone={tone} data-testid={testid} disabled={disabled} onClick={clicked}>
      <kbd aria-hidden="true">{hint}</kbd>
      <span dir="auto">{children}</span>
    </button>
  );
}
