import assert from "node:assert/strict";
import fc from "fast-check";
import { callCollect } from "../../support/collect/collect-client.js";
import { makePackage } from "../../support/imports/make-artifacts.js";
import type { FuzzTarget } from "../fuzz-world.js";
import { hostileText, percentEncoded } from "../values.js";

interface Input {
  templatePath: string;
  outgoingUrl: string;
  value: string;
}

/** Routes: each is taken or refused, and one that is taken answers its own expansion with a redirect that is a URL. */
export const urlTemplates: FuzzTarget<Input> = {
  name: "url-templates",
  runs: 60,
  async open({ program, sent }, { api, name: organization }) {
    const { id } = await makePackage(api, { organization, name: "files", libraryType: "other" });
    const host = `templates.${organization}.invalid`;
    await api.post(`/v1/packages/${id}/domains`, { name: host });
    const routes = `/v1/packages/${id}/routes`;
    return {
      inputs: fc.record({
        templatePath: template,
        outgoingUrl: outgoing,
        value: fc.stringMatching(/^[a-z0-9]{1,8}$/),
      }),
      async attempt({ value, ...route }) {
        sent.requests += 1;
        const headers = { "Content-Type": "application/json" };
        const answer = await api.request(routes, { method: "POST", headers, body: JSON.stringify(route) });
        if (answer.status === 422) return;
        const text = await answer.text();
        assert.equal(answer.status, 201, text);
        const made = JSON.parse(text) as { id: string; templatePath: string };
        const filled = made.templatePath.replaceAll(/\{\+?[^{}]*\}/g, value);
        const path = filled.replaceAll(/[^\u0021-\u007e]+/g, percentEncoded);
        sent.requests += 1;
        const reply = await callCollect(program.endpoints.collect, { host, path });
        const isCollecting = route.outgoingUrl === "";
        assert.equal(reply.status, isCollecting ? 200 : 307, `${path} is answered ${reply.status}`);
        if (!isCollecting) assert.ok(URL.canParse(reply.headers.location ?? ""), reply.headers.location);
        await api.request(`${routes}/${made.id}`, { method: "DELETE" });
      },
      close: () => Promise.resolve(),
    };
  },
};

const name = fc.constantFrom("a", "version", "b.c", "%41", "d_1");
const part = fc.oneof(
  { weight: 3, arbitrary: name.map((each) => `{${each}}`) },
  { weight: 2, arbitrary: name.map((each) => `{+${each}}`) },
  {
    weight: 3,
    arbitrary: fc.constantFrom("/", "-", ".", "a", "tool", "?os={os}", "&x=", "//", "%20", "é", ";", ":"),
  },
  { weight: 1, arbitrary: hostileText },
);
const template = fc.array(part, { maxLength: 6 }).map((parts) => `/${parts.join("")}`);
const outgoing = fc.oneof(
  { weight: 2, arbitrary: fc.constant("") },
  {
    weight: 4,
    arbitrary: fc.array(part, { maxLength: 4 }).map((parts) => `https://files.invalid/${parts.join("")}`),
  },
  { weight: 1, arbitrary: hostileText },
);
