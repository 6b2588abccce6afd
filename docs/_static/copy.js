// A button on every block of code that copies what you would type: without prompts and without answers.
document.addEventListener("DOMContentLoaded", () => {
  if (!navigator.clipboard) return;
  for (const block of document.querySelectorAll("div.highlight")) {
    const button = document.createElement("button");
    button.className = "cw-copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      const code = block.querySelector("pre").cloneNode(true);
      const prompts = code.querySelectorAll(".gp, .go, .gt");
      prompts.forEach((part) => part.remove());
      const text = code.textContent.trim() + "\n";
      await navigator.clipboard.writeText(prompts.length ? text.replace(/\n{2,}/g, "\n") : text);
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy"), 1500);
    });
    block.append(button);
  }
});
