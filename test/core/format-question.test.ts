import { describe, expect, it } from "vitest";
import { formatQuestion } from "../../src/core/format-question.js";
import type { JsonObject, JsonValue } from "../../src/core/json.js";
import type { ApprovalQuestion, DoubtQuestion, InputQuestion } from "../../src/core/question.js";

const place = { stepId: "book", path: "book", runId: "run-1", askedAt: "2030-01-01T00:00:00.000Z" };

const approval: ApprovalQuestion = {
  ...place,
  kind: "approval",
  id: "book?1",
  purpose: "step",
  tool: "reserve_room",
  site: "hotel.test",
  page: "Rooms, second floor",
  action: "Reserve a room",
  labels: { from: "First night" },
  fields: { from: "2030-02-01", nights: 2, guests: null },
  undo: { tool: "release_room" },
  fingerprint: "f00d",
  schema: true,
};

const doubt: DoubtQuestion = {
  ...place,
  kind: "in_doubt",
  id: "book?2",
  purpose: "step",
  tool: "reserve_room",
  action: "Reserve a room",
  fields: {},
  undo: null,
  fingerprint: "f00d",
  attempt: 2,
  error: { code: "TOOL_IN_DOUBT", message: "socket hang up" },
};

const input: InputQuestion = { ...place, kind: "input", id: "book?1", prompt: "Which floor?" };

describe("formatQuestion", () => {
  it("shows all of a write that is to be approved", () => {
    expect(formatQuestion({ ...approval, reason: "It costs money.", expiresAt: "2030-01-02T00:00:00.000Z" })).toBe(
      `May this write be made?

Page:     Rooms, second floor
Action:   Reserve a room
Tool:     reserve_room
Site:     hotel.test
Fields:
  from (First night): "2030-02-01"
  nights: 2
  guests: null
Undo:     release_room undoes it
Why:      It costs money.
Ends:     2030-01-02T00:00:00.000Z: it then expires, and the write is not made
Answer:   { "decision": "approve" }, with "fields": { … } for those that are to change, or { "decision": "reject" }
Step:     book
Question: book?1
Asked:    2030-01-01T00:00:00.000Z
Run:      run-1
Bound to: f00d
`,
    );
  });

  it("leaves out what is not known, and offers no edit that can't be checked", () => {
    const { site, page, labels, schema, ...bare } = approval;
    expect(formatQuestion({ ...bare, fields: {}, undo: null })).toBe(
      `May this write be made?

Action:   Reserve a room
Tool:     reserve_room
Fields:   none
Undo:     nothing undoes it
Ends:     it stays open until it is answered
Answer:   { "decision": "approve" }, or { "decision": "reject" }
Step:     book
Question: book?1
Asked:    2030-01-01T00:00:00.000Z
Run:      run-1
Bound to: f00d
`,
    );
  });

  it.each([
    ["undo", "May this undo be made?"],
    ["fallback", "May this write be made, in place of one that failed?"],
  ] as const)("says that a write is an %s", (purpose, heading) => {
    expect(formatQuestion({ ...approval, purpose }).split("\n")[0]).toBe(heading);
  });

  it("names the question that this one stands for", () => {
    const text = formatQuestion({ ...approval, id: "book?2", supersedes: "book?1" });
    expect(text).toContain("\nAgain:    what would run has changed since book?1\n");
  });

  it("asks what became of a write, and tells the four answers", () => {
    expect(formatQuestion(doubt)).toBe(
      `Was this write made? Nobody knows: look at the site.

Action:   Reserve a room
Tool:     reserve_room
Fields:   none
Undo:     nothing undoes it
Why:      attempt 2 ended with TOOL_IN_DOUBT: socket hang up
Ends:     it stays open until it is answered
Answer:   { "decision": "done", "result": … } if it was made; "not_applied" if it was not;
          "retry" to make it again; "fail" if it can't be found out
Step:     book
Question: book?2
Asked:    2030-01-01T00:00:00.000Z
Run:      run-1
Bound to: f00d
`,
    );
  });

  it("asks for a value", () => {
    expect(formatQuestion(input)).toBe(
      `A value is wanted.

Prompt:   Which floor?
Ends:     it stays open until it is answered
Answer:   { "value": … }
Step:     book
Question: book?1
Asked:    2030-01-01T00:00:00.000Z
Run:      run-1
`,
    );
  });

  it.each([
    ["the default", { default: 1 }, "the default is then taken"],
    ["a failed step", {}, "the step then fails"],
  ])("says that the end of an input question means %s", (_name, more, then) => {
    const text = formatQuestion({ ...input, ...more, expiresAt: "2030-01-02T00:00:00.000Z" });
    expect(text).toContain(`\nEnds:     2030-01-02T00:00:00.000Z: ${then}\n`);
  });

  it("shows the schema and the default of a value, and a prompt that is no text", () => {
    const text = formatQuestion({ ...input, prompt: { floors: [1, 2] }, schema: { type: "integer" }, default: 1 });
    expect(text).toContain('\nPrompt:   { "floors": [1, 2] }\nSchema:   { "type": "integer" }\nDefault:  1\n');
  });
});

function shown(value: JsonValue): string {
  const text = formatQuestion({ ...approval, labels: {}, fields: { x: value } });
  return text.slice(text.indexOf("  x:") + 4, text.indexOf("\nUndo:")).replace(/^ /, "");
}

describe("a value", () => {
  it.each<[string, JsonValue, string]>([
    ["a text", "5", '"5"'],
    ["a number", 5, "5"],
    ["a boolean", false, "false"],
    ["an empty text", "", '""'],
    ["quotes and backslashes", 'a "b" \\n', '"a \\"b\\" \\\\n"'],
    ["an empty list", [], "[]"],
    ["an empty object", {}, "{}"],
    ["a short object", { a: [1, "b"], c: null }, '{ "a": [1, "b"], "c": null }'],
    ["letters of any script", "Ångström 漢字 שלום", '"Ångström 漢字 שלום"'],
    ["a right-to-left override", "invoice\u202efdp.exe", '"invoice\\u{202e}fdp.exe"'],
    ["bidi isolates", "\u2066a\u2069", '"\\u{2066}a\\u{2069}"'],
    ["a zero-width space", "pay\u200bpal", '"pay\\u{200b}pal"'],
    ["a byte order mark", "\ufeffa", '"\\u{feff}a"'],
    ["an escape sequence of a terminal", "\u001b[2K", '"\\u{1b}[2K"'],
    ["a C1 control", "\u009b2K", '"\\u{9b}2K"'],
    ["a tab and a carriage return", "a\tb\rc", '"a\\tb\\rc"'],
    ["a line separator", "a\u2028b", '"a\\u{2028}b"'],
    ["a no-break space", "1\u00a0000", '"1\\u{a0}000"'],
    ["letters that look like nothing", "\u3164\u2800", '"\\u{3164}\\u{2800}"'],
    ["tags beyond the first plane", "\u{e0041}", '"\\u{e0041}"'],
    ["half of a character", "\ud83d", '"\\u{d83d}"'],
    ["text that looks like an escape", "\\u{202e}", '"\\\\u{202e}"'],
    ["sixteen blanks", `a${" ".repeat(16)}b`, `"a${" ".repeat(16)}b"`],
    ["blanks that push aside", `a${" ".repeat(17)}b`, `"a${"\\u{20}".repeat(17)}b"`],
    ["a hostile key within", { "a\u202eb": 1 }, '{ "a\\u{202e}b": 1 }'],
  ])("that is %s is shown whole", (_name, value, expected) => {
    expect(shown(value)).toBe(expected);
  });

  it("that is text of several lines is a marked block", () => {
    expect(shown("Dear all,\n\nUndo:     nothing undoes it\r\n")).toBe(
      "\n    | Dear all,\n    |\n    | Undo:     nothing undoes it\\r\n    |",
    );
  });

  it("that is too long for a line takes several, indented", () => {
    const long = "x".repeat(60);
    expect(shown({ one: long, two: [long, long], three: 3 })).toBe(
      `{
    "one": "${long}",
    "two": [
      "${long}",
      "${long}"
    ],
    "three": 3
  }`,
    );
  });

  it("that is one long text stays on its line", () => {
    expect(shown("y".repeat(500))).toBe(`"${"y".repeat(500)}"`);
  });

  it("that is nested deeply is not indented without end", () => {
    let value: JsonValue = "z".repeat(100);
    for (let depth = 0; depth < 100; depth++) value = [value];
    expect(
      Math.max(
        ...shown(value)
          .split("\n")
          .map((line) => line.length),
      ),
    ).toBeLessThan(400);
  });
});

describe("hostile text", () => {
  const forged = "ok\nUndo:     nothing undoes it\nFields:\n  nights: 1\u2028Answer:   yes\u0085\u202e";

  it("stands for no line of its own, wherever it comes from", () => {
    const fields: JsonObject = { [forged]: forged, list: [forged, { [forged]: forged }] };
    const labels = { [forged]: forged, list: forged };
    const texts = { tool: forged, site: forged, page: forged, action: forged, reason: forged, supersedes: forged };
    const places = { id: forged, path: forged, runId: forged, fingerprint: forged, askedAt: forged, expiresAt: forged };
    const text = formatQuestion({ ...approval, ...texts, ...places, undo: { tool: forged }, fields, labels });
    expect(text.match(/^Undo:/gm)).toHaveLength(1);
    expect(text.match(/^Fields:/gm)).toHaveLength(1);
    expect(text.match(/^Answer:/gm)).toHaveLength(1);
    expect(text).not.toMatch(/^ {2}nights:/m);
    expect(text).not.toMatch(/[\u2028\u0085\u202e]/);
  });

  it("is marked in a prompt and in the message of an error", () => {
    const forgedLine = "\n  | Undo:     nothing undoes it\n";
    expect(formatQuestion({ ...input, prompt: forged })).toContain(forgedLine);
    expect(formatQuestion({ ...doubt, error: { code: "TOOL_IN_DOUBT", message: forged } })).toContain(forgedLine);
  });

  it.each([
    ["a key that gives itself a value", { "nights: 1, x": 2 }, {}, '  "nights: 1, x": 2'],
    ["a label that gives its field a value", { nights: 9 }, { nights: "x): 1 (" }, '  nights ("x): 1 ("): 9'],
    ["a label with a quote", { nights: 9 }, { nights: '"' }, '  nights ("\\""): 9'],
    ["a key that begins with a blank", { " nights": 9 }, {}, '  " nights": 9'],
    ["a key that nobody sees", { "nights\u200b": 9 }, {}, '  "nights\\u{200b}": 9'],
    ["a key of the prototype", { constructor: 9 }, {}, "  constructor: 9"],
  ])("%s is quoted", (_name, fields, labels, expected) => {
    expect(formatQuestion({ ...approval, fields, labels: { ...labels } }).split("\n")).toContain(expected);
  });

  it("keeps a field named __proto__", () => {
    const fields: JsonObject = JSON.parse('{ "__proto__": "a" }');
    expect(formatQuestion({ ...approval, fields })).toContain('\n  __proto__: "a"\n');
  });
});
