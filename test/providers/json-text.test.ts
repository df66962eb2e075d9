import { describe, expect, it } from "vitest";
import { findFault } from "../../src/providers/json-text.js";

describe("findFault", () => {
  it.each([
    "{}",
    "[]",
    ' { "a" : [ 1 , -2.5e+3 , true , false , null , "x\\n\\u00e9\\"" ] , "b" : { } } ',
    "0",
    "-0.5",
    "1E9",
    '"\\/\\b\\f\\n\\r\\t\\\\"',
    "\t\r\n 7",
    '{"":1,"__proto__":{"a":2}}',
    "9007199254740992",
    "-9007199254740992",
    "12345678901234567890.5",
    "1e21",
    '"9007199254740993"',
  ])("finds nothing in %j", (text) => {
    expect(findFault(text)).toBeUndefined();
    expect(() => JSON.parse(text)).not.toThrow();
  });

  it.each([
    ["", "unfinished", 0],
    ["  ", "unfinished", 2],
    ["{", "unfinished", 1],
    ['{"a', "unfinished", 3],
    ['{"a"', "unfinished", 4],
    ['{"a":', "unfinished", 5],
    ['{"a":1', "unfinished", 6],
    ['{"a":1,', "unfinished", 7],
    ["[1,", "unfinished", 3],
    ['"\\u00', "unfinished", 5],
    ['"\\', "unfinished", 2],
    ["tru", "unfinished", 3],
    ["-", "unfinished", 1],
    ["1.", "unfinished", 2],
    ["1e", "unfinished", 2],
    ["1e-", "unfinished", 3],
    ["{a:1}", "syntax", 1],
    ["{'a':1}", "syntax", 1],
    ['{"a" 1}', "syntax", 5],
    ['{"a":}', "syntax", 5],
    ['{"a":1]', "syntax", 6],
    ["[1}", "syntax", 2],
    ["[1 2]", "syntax", 3],
    ["[1,]", "syntax", 3],
    ['{"a":1,}', "syntax", 7],
    ["nul", "unfinished", 3],
    ["nule", "syntax", 3],
    ["NaN", "syntax", 0],
    ["\uFEFF{}", "syntax", 0],
    ["+1", "syntax", 0],
    [".5", "syntax", 0],
    ["-a", "syntax", 1],
    ["1.x", "syntax", 2],
    ["1ex", "syntax", 2],
    ['"a\nb"', "syntax", 2],
    ['"\\x"', "syntax", 2],
    ['"\\u00g0"', "syntax", 5],
    ["01", "trailing", 1],
    ["{}{}", "trailing", 2],
    ["1 2", "trailing", 2],
    ["null null", "trailing", 5],
  ])("finds in %j: %s at %i", (text, kind, at) => {
    expect(findFault(text)).toMatchObject({ kind, at });
    expect(() => JSON.parse(text)).toThrow();
  });

  it.each([
    ["9007199254740993", "integer", ""],
    ["-9007199254740993", "integer", ""],
    ['{"a":[0,{"b/c":12345678901234567}]}', "integer", "/a/1/b~1c"],
    ['{"x":1e999}', "number", "/x"],
    ["[1,-1e999]", "number", "/1"],
  ])("finds in %j what JSON.parse would change: %s at %j", (text, kind, pointer) => {
    expect(findFault(text)).toMatchObject({ kind, pointer });
    expect(() => JSON.parse(text)).not.toThrow();
  });

  it("does not recurse", () => {
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    expect(findFault(deep)).toBeUndefined();
    expect(findFault(deep.slice(0, -1))).toMatchObject({ kind: "unfinished" });
  });
});
