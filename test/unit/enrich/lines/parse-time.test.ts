import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { timeOf } from "../../../support/imports/recount-line.js";
import { parseTime, timestampMeaning } from "../../../../enrich/lines/parse-time.js";
import { testTable } from "../../../support/test-table.js";

const RECEIVED_AT = Date.parse("2026-08-04T12:00:00Z");

describe("parseTime", () => {
  test.each([
    ["2026-08-04", "2026-08-04T00:00:00.000Z"],
    ["2024-02-29", "2024-02-29T00:00:00.000Z"],
    ["2000-02-29", "2000-02-29T00:00:00.000Z"],
    ["1970-01-01", "1970-01-01T00:00:00.000Z"],
    ["2026-08-04T11:58", "2026-08-04T11:58:00.000Z"],
    ["2026-08-04T11:58:26", "2026-08-04T11:58:26.000Z"],
    ["2026-08-04 11:58:26", "2026-08-04T11:58:26.000Z"],
    ["2026-08-04t11:58:26z", "2026-08-04T11:58:26.000Z"],
    ["2026-08-04T11:58:26Z", "2026-08-04T11:58:26.000Z"],
    ["2026-08-04T11:58:26.5Z", "2026-08-04T11:58:26.500Z"],
    ["2026-08-04T11:58:26.021037Z", "2026-08-04T11:58:26.021Z"],
    ["2026-08-04T11:58:26.999999999Z", "2026-08-04T11:58:26.999Z"],
    ["2026-08-04T11:58:26,25Z", "2026-08-04T11:58:26.250Z"],
    ["2026-08-04T11:58:26+02:00", "2026-08-04T09:58:26.000Z"],
    ["2026-08-04T11:58:26+0530", "2026-08-04T06:28:26.000Z"],
    ["2026-08-04T05:58:26-03", "2026-08-04T08:58:26.000Z"],
    ["2026-01-01T00:30:00+01:00", "2025-12-31T23:30:00.000Z"],
    ["2026-08-04T00:00:00-00:00", "2026-08-04T00:00:00.000Z"],
    ["2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"],
    ["1990-12-31T15:59:60-08:00", "1991-01-01T00:00:00.000Z"],
    ["2017-01-01T00:59:60+01", "2017-01-01T00:00:00.000Z"],
    ["20260704T010203Z", "2026-07-04T01:02:03.000Z"],
    ["20260704t0102", "2026-07-04T01:02:00.000Z"],
    ["20260704T010203.25+0130", "2026-07-03T23:32:03.250Z"],
    ["20260704 0102-03", "2026-07-04T04:02:00.000Z"],
    ["20240229", "2024-02-29T00:00:00.000Z"],
    ["19700101", "1970-01-01T00:00:00.000Z"],
    ["2026-08-04T11:58:26.0219999999999999", "2026-08-04T11:58:26.021Z"],
    [631_152_000, "1990-01-01T00:00:00.000Z"],
    ["631152000000", "1990-01-01T00:00:00.000Z"],
    [1_700_000_000, "2023-11-14T22:13:20.000Z"],
    ["1700000000", "2023-11-14T22:13:20.000Z"],
    [1_700_000_000_123, "2023-11-14T22:13:20.123Z"],
    ["1700000000123", "2023-11-14T22:13:20.123Z"],
    [1_700_000_000.123, "2023-11-14T22:13:20.123Z"],
    ["1700000000.123", "2023-11-14T22:13:20.123Z"],
    [1_600_000_001.001, "2020-09-13T12:26:41.001Z"],
    ["1700000000.2199999999999", "2023-11-14T22:13:20.219Z"],
    [1_700_000_000.2199998, "2023-11-14T22:13:20.219Z"],
    ["1700000000123.9", "2023-11-14T22:13:20.123Z"],
    [1_700_000_000.9999, "2023-11-14T22:13:20.999Z"],
    [1_700_000_000_123.9, "2023-11-14T22:13:20.123Z"],
  ])("reads %j as %s", (value, time) => {
    expect(new Date(parseTime(value, RECEIVED_AT) ?? NaN).toISOString()).toBe(time);
  });

  test.each([
    "20230229",
    "20261301",
    "99999999",
    "00000000",
    "2026",
    "202608",
    "2026216",
    "20260804115826",
    "45971",
    "45971.5",
    "631151999",
    "631151999999",
    "1700000000123456",
    "1700000000123456789",
    2026,
    20_260_804,
    45_971.5,
    0,
    "0",
    631_151_999,
    631_151_999.999,
    100_000_000_000,
    631_151_999_999,
    1_700_000_000_123_456,
    1.7e18,
    "20260230T010203Z",
    "20260704T01Z",
    "20260704T01:02:03Z",
    "20260704T0102:03Z",
    "20260704T0102034Z",
    "2026704TT010203Z",
    "2026-07-04T010203Z",
    "2026-02-30",
    "2023-02-29",
    "1900-02-29",
    "2026-13-01",
    "2026-00-10",
    "2026-04-00",
    "2026-04-31",
    "0070-01-01",
    "0026-08-04T11:58:26Z",
    "1969-12-31",
    "1969-12-31T23:59:59.999Z",
    "1970-01-01T00:00:00+01:00",
    "2026-08-04T24:00:00Z",
    "2026-08-04T11:60:00Z",
    "2026-08-04T11:58:61Z",
    "2026-08-04T11:58:60Z",
    "2026-08-04T23:59:60+01:00",
    "2026-08-04T11:58:26+24:00",
    "2026-08-04T11:58:26+02:60",
    "2026-08-04T11",
    "2026-08-04T",
    "2026-08-04Z",
    "2026-8-4",
    "2026-08-04T11:58:26 +02:00",
    " 2026-08-04",
    "2026-08-04\n",
    "04/08/2026",
    "Tue, 04 Aug 2026 11:58:26 GMT",
    "+1700000000",
    "-1700000000",
    "-1",
    "1e9",
    "0x6553f100",
    "1700000000.",
    ".5",
    "1234567890123456",
    "",
    "now",
    "NaN",
    -1,
    -0.001,
    NaN,
    Infinity,
    -Infinity,
    1e300,
    true,
    false,
    null,
    undefined,
    [],
    [1_700_000_000],
    {},
  ])("refuses %j", (value) => {
    expect(parseTime(value, RECEIVED_AT)).toBeUndefined();
  });

  testTable("explains what %j would mean", timestampMeaning, [
    [2026, "1970-01-01T00:33:46Z, in seconds"],
    ["2026", "1970-01-01T00:33:46Z, in seconds"],
    [20_261_110, "1970-08-23T12:05:10Z, in seconds"],
    [45_971.5, "1970-01-01T12:46:11Z, in seconds"],
    [20_261_110_080_000, "2612-01-19T14:08:00Z, in milliseconds"],
    ["1700000000123456", undefined],
    ["2026-13-01", undefined],
    [-1, undefined],
    [{}, undefined],
  ]);

  test("takes a time up to one day after receipt, and none later", () => {
    const tomorrow = RECEIVED_AT + 86_400_000;
    expect(parseTime(tomorrow, RECEIVED_AT)).toBe(tomorrow);
    expect(parseTime("2026-08-05T12:00:00.000Z", RECEIVED_AT)).toBe(tomorrow);
    expect(parseTime(tomorrow + 1, RECEIVED_AT)).toBeUndefined();
    expect(parseTime("2026-08-05T12:00:00.001Z", RECEIVED_AT)).toBeUndefined();
  });

  test("reads every time as it is written in ISO 8601, and in seconds and milliseconds", () => {
    fc.assert(
      fc.property(fc.integer({ min: 631_152_000_000, max: RECEIVED_AT }), (time) => {
        const iso = new Date(time).toISOString();
        const forms = [
          iso,
          iso.replace("Z", "+00:00"),
          time,
          String(time),
          time / 1000,
          (time / 1000).toFixed(3),
        ];
        expect(forms.map((form) => parseTime(form, RECEIVED_AT))).toEqual(forms.map(() => time));
      }),
    );
  });

  test("reads a text as a pattern and the calendar do, and whatever is nearly a time", () => {
    const digit = fc.constantFrom(..."0123456789");
    const nearly = fc.tuple(
      fc.integer({ min: 0, max: 4e12 }),
      fc.nat(30),
      fc.oneof(digit, fc.constantFrom(..."TZ:+-., tz")),
    );
    const zones = fc.constantFrom("", "Z", "+02:00", "-0530", "+09", "-00:60", "+2", "+02:0");
    fc.assert(
      fc.property(nearly, zones, fc.boolean(), ([time, at, character], zone, isWhole) => {
        const text = new Date(time).toISOString().replace("Z", zone);
        const changed = isWhole ? text : text.slice(0, at) + character + text.slice(at + 1);
        for (const one of [changed, changed.slice(0, at), changed.replace(/\.\d+/, "")])
          expect([one, parseTime(one, RECEIVED_AT)]).toEqual([one, timeOf(one, RECEIVED_AT)]);
      }),
      { numRuns: 2_000 },
    );
  });

  test("gives a whole number of milliseconds in range, or nothing, for any JSON value", () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.double(), fc.stringMatching(/^[\d.:TZ+-]{1,30}$/)), (value) => {
        const time = parseTime(value, RECEIVED_AT) ?? 0;
        expect(Number.isInteger(time) && time >= 0 && time <= RECEIVED_AT + 86_400_000).toBe(true);
      }),
    );
  });
});
