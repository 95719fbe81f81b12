import { type Registry, WHOLE, compileAnswer, fieldsOf } from "./registry.js";

const read = compileAnswer<{ pull_count: number }>(fieldsOf({ pull_count: WHOLE }));

/**
 * Pulls since the repository exists, of all tags: days are differences. No history.
 * Source: https://docs.docker.com/reference/api/hub/latest/ (GET /v2/namespaces/{namespace}/repositories/{repository})
 */
export const dockerHub: Registry = {
  url: "https://hub.docker.com",
  title: "Docker Hub",
  noun: "repository",
  name: { pattern: /^(?:[a-z0-9][a-z0-9_-]{0,127}\/)?[a-z0-9][a-z0-9._-]{0,127}$/, example: "acme/web" },
  pageOf: (name) => `https://hub.docker.com/${name.includes("/") ? `r/${name}` : `_/${name}`}`,
  pages: [
    { hosts: ["hub.docker.com"], path: /^\/(?:r|repository\/docker)\/([^/]+\/[^/]+)/ },
    { hosts: ["hub.docker.com"], path: /^\/_\/([^/]+)/ },
  ],
  packageOf: (name) => ({
    name: name.slice(name.lastIndexOf("/") + 1),
    libraryType: "docker",
    backendUrl: `https://docker.io/${name.includes("/") ? name : `library/${name}`}`,
  }),
  ask({ name }) {
    const [repository = "", namespace = "library"] = name.split("/").reverse();
    return [{ path: `/v2/namespaces/${namespace}/repositories/${repository}` }];
  },
  read: (answer) => ({ counters: [{ key: "pulls", metric: "pulls", value: read(answer).pull_count }] }),
};
