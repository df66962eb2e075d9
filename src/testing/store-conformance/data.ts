import type { JsonValue } from "../../core/json.js";
import { type CaseDefinition, collect, recordOf, recordsOf } from "./case.js";
import { expectSame } from "./expect.js";

const loneSurrogates = String.fromCharCode(0xd800, 0x61, 0xdfff);

const values: readonly (readonly [what: string, value: JsonValue])[] = [
  ["nothing", null],
  ["what is empty", ["", {}, [], [[]], { "": "" }]],
  [
    "quotes, backslashes and braces",
    ["'", '"', "\\", "\\\\", '\\"', "{}", "{a,b}", "$1", "?", "--", "/* */", "\\u0000"],
  ],
  ["control characters", Array.from({ length: 32 }, (_, code) => `<${String.fromCharCode(code)}>`)],
  ["line separators", "\u2028\u2029\u0085\r\n\uFEFF"],
  ["lone surrogates", [loneSurrogates, { [loneSurrogates]: loneSurrogates }]],
  ["characters beyond the first plane", ["\u{1F9F5}\u{1F469}\u200D\u{1F4BB}", { "\u{10FFFF}": "e\u0301" }]],
  ["text from right to left", "\u202E\u05D0\u0628"],
  [
    "own keys named like what objects inherit",
    JSON.parse('{"__proto__":{"a":1},"constructor":{"prototype":2},"toString":3}'),
  ],
  ["an own __proto__ key that is null", JSON.parse('[{"__proto__":null}]')],
  ["keys in their order", { z: 1, a: 2, m: { y: 1, b: 2 }, A: 3 }],
  [
    "numbers at the edges",
    [0, -1, 0.1 + 0.2, 1e308, 5e-324, 2 ** 53 - 1, 2 ** 53, -(2 ** 63), 1e21, 123456789.12345679],
  ],
  ["truth", [true, false]],
  [
    "text that looks like something else",
    ["null", "1", '{"a":1}', "{{steps.a.result}}", "'; DROP TABLE runs; --", "%s", "NULL"],
  ],
  ["hundreds of levels", nested(400)],
  ["thousands of keys", Object.fromEntries(recordsOf(0, 5_000).map((_, index) => [`key ${index}`, index]))],
];

export const dataCases: readonly CaseDefinition[] = [
  ...values.map(
    ([what, value]) =>
      ({
        name: `data: a record keeps ${what}`,
        async check({ store, runId, head }) {
          await store.append(runId, 0, [recordOf(value)], head());
          // Once more as part of a batch, which may take another way.
          await store.append(runId, 1, [recordOf("before"), recordOf(value), recordOf([value])], head());
          const expected = [recordOf(value), recordOf("before"), recordOf(value), recordOf([value])];
          expectSame(await collect(store.read(runId)), expected, "the journal");
        },
      }) satisfies CaseDefinition,
  ),
  {
    name: "data: a record keeps 10 MB",
    async check({ store, runId, head }) {
      const large = recordOf(`${"0123456789abcdef".repeat(6)}\n"\\\u{1F9F5}`.repeat(100_000));
      await store.append(runId, 0, [large, recordOf("small")], head());
      expectSame(await collect(store.read(runId)), [large, recordOf("small")], "the journal");
    },
  },
  {
    name: "data: runs whose ids hardly differ are runs of their own",
    async check({ store, runId, head, listed }) {
      const endings = [
        "",
        " ",
        "a",
        "A",
        "\u00E9",
        "e\u0301",
        "'",
        '"',
        "`",
        "\\",
        "/",
        "/..",
        "?",
        "#",
        "%",
        "%25",
        "_",
        "*",
        "\n",
        "\t",
      ];
      endings.push(
        "\u{1F9F5}",
        "\u{1F9F6}",
        "\u00DF",
        "ss",
        "\u0130",
        "i",
        ":",
        "{}",
        "{{a}}",
        "null",
        "$1",
        ";--",
        "x".repeat(400),
      );
      const ids = endings.map((ending) => `${runId}${ending}`);
      for (const [index, id] of ids.entries()) {
        await store.append(id, 0, recordsOf(index, index + 1), head({ runId: id, openQuestions: index }));
      }
      for (const [index, id] of ids.entries()) {
        expectSame(await collect(store.read(id)), recordsOf(index, index + 1), `the journal of ${id}`);
        expectSame((await store.head(id))?.openQuestions, index, `the questions of ${id}`);
      }
      expectSame((await listed()).sort(), [...ids].sort(), "the list");
      for (const id of ids) await store.delete(id);
      expectSame(await listed(), [], "the list in the end");
    },
  },
  {
    name: "data: ids named like what objects inherit are plain ids",
    async check({ store, runId, head }) {
      // Whatever stands there was left by an earlier run of this case.
      const ids = ["__proto__", "constructor", "toString", "hasOwnProperty"];
      for (const id of ids) await store.delete(id);
      for (const id of ids) expectSame(await store.head(id), undefined, `the head of ${id}`);
      for (const id of ids) await store.append(id, 0, [recordOf(runId)], head({ runId: id }));
      for (const id of ids) expectSame(await collect(store.read(id)), [recordOf(runId)], `the journal of ${id}`);
      for (const id of ids) await store.delete(id);
    },
  },
];

function nested(levels: number): JsonValue {
  let value: JsonValue = "core";
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { level: value };
  return value;
}
