// The page of `cluewise ask --html`. Whatever comes from the data is shown by textContent, never as HTML.
"use strict";

(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const questions = data.questions;
  const PLACE = "cluewise " + data.page;
  const SHORT = 6; // lines of a card before "more"
  const byId = (id) => document.getElementById(id);
  const main = byId("main");
  const actions = byId("actions");

  // --- what is kept ---------------------------------------------------------------------------------------------

  // `copy` tells this copy of the page from others: the same page may be sent to several people.
  let kept = { copy: random(), who: data.who, answers: {}, order: [], changes: {} };
  let keeps = true; // whether this browser remembers
  let at = 0; // the question that is shown, or -1 for the list of answers
  let changing = false; // whether the list of answers comes next
  let piles = []; // of the group question that is shown: lists of places
  let since = 0;
  let away = 0; // milliseconds that the page was hidden since then
  let left = 0;

  function random() {
    return Array.from(crypto.getRandomValues(new Uint8Array(9)), (b) => b.toString(16).padStart(2, "0")).join("");
  }

  function load() {
    try {
      const text = localStorage.getItem(PLACE);
      if (text) kept = JSON.parse(text);
      else localStorage.setItem(PLACE, JSON.stringify(kept));
    } catch (error) {
      keeps = false;
    }
  }

  function save() {
    try {
      localStorage.setItem(PLACE, JSON.stringify(kept));
      keeps = true;
    } catch (error) {
      keeps = false;
    }
    warn();
  }

  function warn() {
    const notice = byId("notice");
    notice.hidden = keeps;
    notice.textContent = keeps ? "" : "This browser does not remember your answers: download them before you close the page.";
  }

  const count = () => kept.order.length;
  const answered = (i) => Object.hasOwn(kept.answers, i);

  // --- small pieces ---------------------------------------------------------------------------------------------

  function make(tag, options, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(options || {})) {
      if (name === "on") node.addEventListener("click", value);
      else if (name === "text") node.textContent = value;
      else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children.filter((child) => child !== null));
    return node;
  }

  function button(words, key, options, act) {
    const hint = key ? [make("kbd", { text: key, "aria-hidden": "true" })] : [];
    return make("button", { type: "button", ...options, on: act }, words, ...hint);
  }

  function text(tag, words, options) {
    return make(tag, { dir: "auto", text: words, ...options });
  }

  // The name of a column, which may break behind each underscore.
  function column(name) {
    return name.split(/(?<=_)/).flatMap((part) => [part, make("wbr")]);
  }

  function picture(question, place) {
    const found = (question.pictures || [])[place];
    if (found === undefined || found === null) return null;
    if (found < 0) return make("p", { class: "left-out", text: "(picture left out)" });
    return make("img", { src: data.pictures[found], alt: "Picture of " + question.names[place] });
  }

  function known() {
    const said = kept.order.filter((i) => questions[i].kind === "label").map((i) => kept.answers[i].value);
    return [...new Set([...data.classes, ...said.filter((value) => value !== null)])];
  }

  function words(question, value) {
    if (value === null) return "don't know";
    if (question.kind === "pair") return value ? "same" : "different";
    if (question.kind === "label") return value;
    if (question.kind === "which") return value === false ? "none of them" : question.names[question.rows.indexOf(value)];
    const piled = value.map((pile) => pile.map((row) => question.names[question.rows.indexOf(row)]).join(", "));
    return piled.join(" / ") || "nothing belongs together for certain";
  }

  // --- answers --------------------------------------------------------------------------------------------------

  function seconds() {
    return Math.round(Math.max(0, performance.now() - since - away) / 100) / 10;
  }

  function answer(value) {
    const i = at;
    const before = kept.answers[i];
    // A changed answer has a new number, so that it replaces the one that was sent before.
    if (!before || JSON.stringify(before.value) !== JSON.stringify(value)) kept.changes[i] = (kept.changes[i] || 0) + 1;
    kept.answers[i] = { value, seconds: seconds() };
    kept.order = [...kept.order.filter((other) => other !== i), i];
    save();
    byId("said").textContent = "Saved: " + words(questions[i], value) + ".";
    if (changing) show(-1);
    else next();
  }

  function next() {
    const open = questions.map((_, i) => i).filter((i) => !answered(i));
    const later = open.find((i) => i > at);
    show(later !== undefined ? later : open.length ? open[0] : -1);
  }

  function undo() {
    const i = kept.order[kept.order.length - 1];
    if (i === undefined) return;
    const back = words(questions[i], kept.answers[i].value);
    kept.order = kept.order.slice(0, -1);
    delete kept.answers[i];
    save();
    show(i);
    byId("said").textContent = "Taken back: " + back + ".";
  }

  function file() {
    const said = [...kept.order].sort((a, b) => a - b);
    const answers = said.map((i) => ({
      question: { kind: questions[i].kind, rows: questions[i].rows },
      value: kept.answers[i].value,
      seconds: kept.answers[i].seconds,
      nonce: kept.copy + "-" + i + "." + kept.changes[i],
    }));
    const head = { cluewise: "answers", format: 1, project: data.project, page: data.page, who: kept.who.trim() };
    return JSON.stringify({ ...head, answers }, null, 1) + "\n";
  }

  function download() {
    const place = URL.createObjectURL(new Blob([file()], { type: "application/json" }));
    make("a", { href: place, download: "answers.json" }).click();
    setTimeout(() => URL.revokeObjectURL(place), 60000);
    byId("sent").textContent = "answers.json holds " + plural(count(), "answer") + ". Send it back to whoever sent you this page.";
  }

  const plural = (number, word) => number + " " + word + (number === 1 ? "" : "s");

  // --- what is shown --------------------------------------------------------------------------------------------

  function show(i) {
    at = i;
    piles = [];
    main.replaceChildren();
    actions.replaceChildren();
    main.classList.remove("new");
    void main.offsetWidth; // begins the animation again
    main.classList.add("new");
    const all = questions.length;
    byId("count").textContent = count() + " of " + all + " answered";
    byId("review").hidden = i < 0;
    const progress = byId("progress");
    progress.setAttribute("aria-valuemax", all);
    progress.setAttribute("aria-valuenow", count());
    progress.firstElementChild.style.width = (100 * count()) / Math.max(all, 1) + "%";
    if (i < 0) list();
    else pose(questions[i], i);
    changing = false;
    since = performance.now();
    away = 0;
    scrollTo(0, 0);
    // A button that keeps the focus would be pressed by the space bar, which means "don't know".
    main.querySelector("h1").focus({ preventScroll: true });
  }

  function pose(question, i) {
    main.append(make("h1", { tabindex: "-1", dir: "auto", text: question.text }));
    const place = "Question " + (i + 1) + " of " + questions.length + ".";
    main.append(text("p", question.why ? place + " Why: " + question.why : place, { class: "why" }));
    const old = answered(i) ? kept.answers[i].value : undefined;
    POSE[question.kind](question, old);
    if (question.more) {
      main.append(make("p", { class: "more", text: plural(question.more, "more column") + " with smaller differences." }));
    }
  }

  function compare(question) {
    if (question.pictures) {
      const figures = question.names.map((name, j) => make("figure", null, text("figcaption", name), picture(question, j)));
      main.append(make("div", { class: "pictures" }, ...figures));
    }
    if (!question.lines.length) return;
    const head = make("tr", null, make("td"));
    question.names.forEach((name) => {
      head.append(text("th", name, { scope: "col" }));
    });
    const body = make("tbody");
    for (const line of question.lines) {
      const name = make("th", { scope: "row", dir: "auto" }, ...column(line.name));
      if (line.apart) name.append(make("span", { class: "apart" }, line.share ? meter(line.share) : null, line.apart));
      const row = make("tr", { class: line.far ? "far" : line.apart === "same" ? "alike" : null }, name);
      for (const cell of line.cells) row.append(make("td", null, text("div", cell, { class: "cell" })));
      body.append(row);
    }
    main.append(make("div", { class: "panel" }, make("table", null, make("thead", null, head), body)));
  }

  function meter(share) {
    const bar = make("span");
    bar.style.width = 100 * share + "%";
    return make("span", { class: "meter", "aria-hidden": "true" }, bar);
  }

  function card(question, j, head) {
    const lines = question.lines.map((line) => [make("dt", { dir: "auto" }, ...column(line.name)), text("dd", line.cells[j])]);
    const box = make("div", { class: "card" }, head, picture(question, j), make("dl", null, ...lines.slice(0, SHORT).flat()));
    if (lines.length > SHORT) {
      const rest = make("dl", null, ...lines.slice(SHORT).flat());
      box.append(make("details", null, make("summary", { text: "More columns" }), rest));
    }
    return box;
  }

  function row(...buttons) {
    actions.append(make("div", { class: "row" }, ...buttons));
  }

  function pressed(old, value) {
    return old === undefined ? null : String(JSON.stringify(old) === JSON.stringify(value));
  }

  const back = () => button("Undo", "⌫", { disabled: !count() }, undo);
  const unsure = (old) => button("Don't know", "space", { class: "unsure", "aria-pressed": pressed(old, null) }, () => answer(null));

  const POSE = {
    pair(question, old) {
      compare(question);
      row(
        button("Same", "A", { class: "yes", "aria-pressed": pressed(old, true) }, () => answer(true)),
        button("Different", "X", { class: "no", "aria-pressed": pressed(old, false) }, () => answer(false)),
        unsure(old),
        back(),
      );
    },

    label(question, old) {
      compare(question);
      const classes = known();
      row(
        ...classes.map((name, j) =>
          button(name, j < 9 ? String(j + 1) : "", { "aria-pressed": pressed(old, name), dir: "auto" }, () => answer(name)),
        ),
        make("form", null, ...field(classes.length ? "Another class" : "Its class")),
      );
      actions.querySelector("form").addEventListener("submit", (event) => {
        event.preventDefault();
        const name = byId("class").value.trim();
        if (name) answer(name);
      });
      row(unsure(old), back());
    },

    which(question, old) {
      main.append(make("div", { class: "cards" }, card(question, 0, text("p", question.names[0], { class: "name" }))));
      main.append(make("h2", { text: "Which of these does it belong to?" }));
      const cards = make("div", { class: "cards" });
      question.rows.slice(1).forEach((number, j) => {
        const options = { "aria-pressed": pressed(old, number), dir: "auto" };
        const head = button(question.names[j + 1], j < 9 ? String(j + 1) : "", options, () => answer(number));
        cards.append(card(question, j + 1, head));
      });
      main.append(cards);
      row(button("None of these", "N", { class: "no", "aria-pressed": pressed(old, false) }, () => answer(false)), unsure(old), back());
    },

    group(question, old) {
      piles = (old || []).map((pile) => pile.map((number) => question.rows.indexOf(number)));
      if (!piles.length) piles = [[]];
      main.append(make("p", { class: "why", text: "Pick what belongs together, then begin another pile. Leave out what you cannot place." }));
      const cards = make("div", { class: "cards" });
      question.names.forEach((name, j) => {
        const head = button(name, j < 9 ? String(j + 1) : "", { dir: "auto" }, () => pick(j));
        cards.append(card(question, j, head));
      });
      main.append(cards);
      row(
        button("Done", "enter", { class: "main yes", id: "done" }, finish),
        button("Another pile", "P", { id: "pile" }, another),
        unsure(old),
        back(),
      );
      mark();
    },
  };

  function field(words) {
    const name = make("input", { id: "class", maxlength: "200", autocomplete: "off", placeholder: words, "aria-label": words });
    return [name, make("button", { class: "main", text: "OK" })];
  }

  // --- piles ----------------------------------------------------------------------------------------------------

  function pick(j) {
    const last = piles[piles.length - 1];
    const own = last.includes(j);
    piles = piles.map((pile) => pile.filter((other) => other !== j));
    if (!own) piles[piles.length - 1].push(j);
    mark();
  }

  function another() {
    if (!piles[piles.length - 1].length) return;
    piles = [...piles.filter((pile) => pile.length), []];
    mark();
  }

  function mark() {
    main.querySelectorAll(".cards > .card").forEach((box, j) => {
      const pile = piles.findIndex((one) => one.includes(j));
      const head = box.firstElementChild;
      box.classList.toggle("picked", pile >= 0);
      head.setAttribute("aria-pressed", String(pile >= 0));
      head.querySelectorAll(".pile").forEach((old) => old.remove());
      if (pile >= 0) head.append(make("span", { class: "pile", text: "pile " + (pile + 1) }));
    });
    byId("done").disabled = !piles.some((pile) => pile.length);
    byId("pile").disabled = !piles[piles.length - 1].length;
  }

  function finish() {
    const rows = questions[at].rows;
    const full = piles.filter((pile) => pile.length);
    if (full.length) answer(full.map((pile) => pile.map((j) => rows[j])));
  }

  // --- the list of answers --------------------------------------------------------------------------------------

  function list() {
    const all = questions.length;
    const done = count() === all;
    main.append(make("h1", { tabindex: "-1", text: done ? "Thank you: all questions are answered." : "Your answers so far" }));
    main.append(make("p", { class: "why", text: "Nothing has left this device. Download your answers, and send the file back." }));
    const name = make("input", { id: "who", value: kept.who, maxlength: "100", autocomplete: "name", dir: "auto" });
    const shown = make("textarea", { readonly: true, "aria-label": "Your answers as text" });
    name.addEventListener("input", () => {
      kept.who = name.value;
      save();
      shown.value = file();
    });
    shown.value = file();
    main.append(
      make(
        "div",
        { class: "panel hand" },
        make("label", { for: "who", text: "Your name (kept with your answers)" }),
        name,
        make("p", null, button("Download " + plural(count(), "answer"), "", { class: "main", id: "download", disabled: !count() }, download)),
        make("p", { id: "sent", role: "status" }),
        make("details", null, make("summary", { text: "No file? Copy this text instead." }), shown),
      ),
    );
    main.append(make("h2", { text: plural(count(), "answer") }));
    const lines = questions.map((question, i) =>
      make(
        "li",
        null,
        make("span", null, text("bdi", question.text), " ", text("strong", answered(i) ? words(question, kept.answers[i].value) : "not answered")),
        button(answered(i) ? "Change" : "Answer", "", { "aria-label": (answered(i) ? "Change: " : "Answer: ") + question.text }, () => {
          show(i);
          changing = true;
        }),
      ),
    );
    main.append(make("ul", { class: "list panel" }, ...lines));
    if (!done) row(button("Go on", "enter", { class: "main yes" }, resume), back());
    else row(back());
  }

  function resume() {
    at = -1;
    next();
  }

  // --- keys -----------------------------------------------------------------------------------------------------

  function press(key) {
    const numbers = "123456789".indexOf(key);
    if (key === "backspace" || key === "u") return undo();
    if (at < 0) return key === "enter" && count() < questions.length ? resume() : undefined;
    const question = questions[at];
    if (key === " " || key === "?") return answer(null);
    if (question.kind === "pair") {
      if (key === "a" || key === "y") return answer(true);
      if (key === "x" || key === "n") return answer(false);
    }
    if (question.kind === "label" && numbers >= 0 && numbers < known().length) return answer(known()[numbers]);
    if (question.kind === "which") {
      if (key === "x" || key === "n") return answer(false);
      if (numbers >= 0 && numbers + 1 < question.rows.length) return answer(question.rows[numbers + 1]);
    }
    if (question.kind === "group") {
      if (key === "enter" || key === "a") return finish();
      if (key === "p") return another();
      if (numbers >= 0 && numbers < question.rows.length) return pick(numbers);
    }
    return undefined;
  }

  document.addEventListener("keydown", (event) => {
    const target = event.target;
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.isComposing) return;
    if (target.matches("input, textarea")) return;
    if (target.matches("button, summary") && (event.key === " " || event.key === "Enter")) return;
    if (event.key === " " || event.key === "Backspace") event.preventDefault(); // neither scrolls nor leaves the page
    press(event.key.toLowerCase());
  });
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) left = performance.now();
    else if (left) away += performance.now() - left;
  });
  addEventListener("storage", (event) => {
    if (event.key !== PLACE || !event.newValue) return; // another tab has answered
    kept = JSON.parse(event.newValue);
    show(at < 0 || !answered(at) ? at : -1);
  });
  addEventListener("beforeunload", (event) => {
    if (!keeps && count()) event.preventDefault();
  });
  byId("review").addEventListener("click", () => show(-1));

  document.title = data.title + " · cluewise";
  byId("title").textContent = data.title;
  load();
  warn();
  at = -1;
  next();
  document.documentElement.dataset.ready = "yes";
})();
