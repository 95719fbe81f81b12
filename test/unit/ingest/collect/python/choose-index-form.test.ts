import { chooseIndexForm } from "../../../../../ingest/collect/python/render-index-page.js";
import { testTable } from "../../../../support/test-table.js";

const JSON_TYPE = "application/vnd.pypi.simple.v1+json";
const HTML_TYPE = "application/vnd.pypi.simple.v1+html";

testTable("Accept: %s is served %s", chooseIndexForm, [
  [undefined, "text"],
  ["", "text"],
  ["*/*", "text"],
  ["text/*", "text"],
  ["application/*", "json"],
  ["image/png", "text"],
  [JSON_TYPE, "json"],
  [HTML_TYPE, "html"],
  ["application/vnd.pypi.simple.latest+json", "json"],
  ["application/vnd.pypi.simple.v2+json", "text"],
  [JSON_TYPE.toUpperCase(), "json"],
  // pip, and uv.
  [`${JSON_TYPE}, ${HTML_TYPE}; q=0.1, text/html; q=0.01`, "json"],
  [`${JSON_TYPE}, ${HTML_TYPE};q=0.2, text/html;q=0.01`, "json"],
  [`text/html;q=0.5, ${HTML_TYPE};q=0.6, ${JSON_TYPE};q=0.599`, "html"],
  [`text/html, ${JSON_TYPE}`, "text"],
  [`${JSON_TYPE};q=0, */*;q=0.1`, "text"],
  [`text/html;q=0, */*;q=0.1`, "json"],
  [`text/html;q=0, application/*;q=0, */*`, "text"],
  [`${JSON_TYPE};q=2, ${HTML_TYPE};q=0.1`, "html"],
  [`${JSON_TYPE}; charset=utf-8; Q=0.7, text/html;q=0.3`, "json"],
]);
