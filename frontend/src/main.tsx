import { render } from "preact";
import { App } from "./App";
import { followHash, readHash, takeToken } from "./state/address";
import { HttpTransport } from "./state/http";
import { Session } from "./state/session";
import "./styles/page.css";

const session = new Session(new HttpTransport(takeToken()), readHash());
followHash(session.store, (model) => {
  const { layout, ...rest } = model;
  session.store.set(rest);
  if (layout && layout !== session.store.get().layout) void session.setLayout(layout);
});
session.store.watch(() => {
  const { project, questions, points, state, fatal } = session.store.get();
  if (project) document.title = `${project.name} · cluewise`;
  const asked = questions.length > 0 || state?.settled || project?.me.role === "reads";
  if (fatal || (asked && points)) document.documentElement.dataset.ready = "true";
});
render(<App session={session} keys={document} />, document.getElementById("page")!);
void session.start();
