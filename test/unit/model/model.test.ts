import { expect, test } from "vitest";
import { Random } from "../../../deploy/demo/random.js";
import { liveEvents, type Model } from "../../model/model.js";
import { sentEvent } from "../../support/statistics/sent-events.js";

const artifact = { kind: "package", id: "p", libraryType: "other", name: "files" } as const;
const event = (key: string, day: string) => sentEvent(new Random(1), { artifact, key, day });
const sent = (id: string, ...events: ReturnType<typeof event>[]) => ({
  ...{ id, events, gone: false, aborted: false, retracted: false, refused: 0 },
});

function modelOf(...imports: Model["imports"]): Model {
  return { artifacts: [{ ...artifact }], imports, collected: [], stages: new Map(), changes: [] };
}

const daysOf = (model: Model) => liveEvents(model).map(({ key, day }) => `${key} ${day}`);

test("in the model the last event with an id counts, until its import is retracted", () => {
  const model = modelOf(
    sent("1", event("a", "2025-03-01"), event("b", "2025-03-01")),
    sent("2", event("a", "2025-03-02")),
  );
  expect(daysOf(model)).toEqual(["a 2025-03-02", "b 2025-03-01"]);
  model.imports = model.imports.map((each) => ({ ...each, gone: each.id === "2" }));
  expect(daysOf(model)).toEqual(["a 2025-03-01", "b 2025-03-01"]);
});

test("in the model nothing of a deleted package counts", () => {
  const model = modelOf(sent("1", event("a", "2025-03-01")));
  model.artifacts = [{ ...artifact, deletedAt: 0 }];
  expect(daysOf(model)).toEqual([]);
});
