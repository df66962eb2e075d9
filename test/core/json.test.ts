import { describe, expect, test } from "vitest";
import { ToolError, ToolweaveError } from "../../src/core/errors.js";
import {
  canonicalJson,
  copyJson,
  deepestNesting,
  defaultJsonLimits,
  isJsonArray,
  isJsonObject,
  type JsonValue,
  normalizeJson,
  setOwn,
} from "../../src/core/json.js";

const normalize = (value: unknown, limits = {}) => normalizeJson(value, { ...defaultJsonLimits, ...limits });

function failure(act: () => unknown): ToolweaveError {
  try {
    act();
  } catch (error) {
    if (error instanceof ToolweaveError) return error;
    throw error;
  }
  throw new Error("Nothing was thrown.");
}

function nested(levels: number): JsonValue {
  let value: JsonValue = 1;
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { in: value };
  return value;
}

class Money {
  constructor(
    readonly amount: number,
    readonly currency?: string,
  ) {}
}

describe("normalizeJson", () => {
  const sparse = [1];
  sparse[2] = 3;

  test.each<[name: string, value: unknown, expected: JsonValue]>([
    ["text", "żółw", "żółw"],
    ["a lone surrogate", "a\ud800", "a\ud800"],
    ["a number", 12.5, 12.5],
    ["a boolean", false, false],
    ["null", null, null],
    ["undefined", undefined, null],
    ["a property that is undefined", { a: undefined, b: 1 }, { b: 1 }],
    ["an element that is undefined", [undefined, 1], [null, 1]],
    ["a hole", sparse, [1, null, 3]],
    ["numbers that are not finite", [Number.NaN, Infinity, -Infinity], [null, null, null]],
    ["minus zero", [-0], [0]],
    ["boxed scalars", [Object(5), Object("x"), Object(false)], [5, "x", false]],
    ["a date", { on: new Date(0) }, { on: "1970-01-01T00:00:00.000Z" }],
    ["a date that is none", [new Date(Number.NaN)], [null]],
    ["an instance", new Money(3), { amount: 3 }],
    ["an object without a prototype", Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
    ["an object that calls itself a map", { a: 1, [Symbol.toStringTag]: "Map" }, { a: 1 }],
    [
      "one that calls itself so, and has no prototype",
      Object.assign(Object.create(null), { a: 1, [Symbol.toStringTag]: "Map" }),
      { a: 1 },
    ],
    ["what JSON has no keys for", [/x/g, new Error("lost"), [][Symbol.iterator]()], [{}, {}, {}]],
    ["keys that are symbols or hidden", Object.defineProperty({ [Symbol("s")]: 1 }, "hidden", { value: 1 }), {}],
    [
      "a getter",
      {
        get total() {
          return 7;
        },
      },
      { total: 7 },
    ],
    ["a toJSON that is no function", { toJSON: 1 }, { toJSON: 1 }],
    ["a toJSON that says undefined", { a: { toJSON: () => undefined } }, {}],
    ["a toJSON that says the like again", { toJSON: () => ({ toJSON: 1, b: 2 }) }, { toJSON: 1, b: 2 }],
    ["a map that says how", Object.assign(new Map([["a", 1]]), { toJSON: () => ["a"] }), ["a"]],
    ["one object twice", [sparse.slice(0, 1), sparse.slice(0, 1)], [[1], [1]]],
  ])("%s", (_name, value, expected) => {
    // Not toEqual, which takes -0 for 0 and a hole for undefined.
    expect(normalize(value)).toStrictEqual(expected);
  });

  test("toJSON is given the key", () => {
    const keys: string[] = [];
    const noter = { toJSON: (key: string) => keys.push(key) };
    normalize([noter, { at: noter }]);
    normalize(noter);
    expect(keys).toEqual(["0", "at", ""]);
  });

  test("what toJSON gives is not asked again", () => {
    const error = failure(() => normalize([{ toJSON: () => ({ toJSON: () => "asked twice" }) }]));
    expect(error).toMatchObject({ code: "RESULT_NOT_JSON", pointer: "/0/toJSON" });
  });

  test("the result is another value, frozen all the way down", () => {
    const given = { list: [{ n: 1 }] };
    const normal = normalize(given);
    given.list.push({ n: 2 });
    expect(normal).toEqual({ list: [{ n: 1 }] });
    const frozen = (value: unknown): boolean =>
      typeof value !== "object" || value === null || (Object.isFrozen(value) && Object.values(value).every(frozen));
    expect(frozen(normal)).toBe(true);
  });

  test("an own key __proto__ stays a plain key", () => {
    const normal = normalize(JSON.parse('{"__proto__": {"admin": true}}'));
    expect(Object.keys(normal ?? {})).toEqual(["__proto__"]);
    expect(Object.getPrototypeOf(normal)).toBe(Object.prototype);
    expect(JSON.stringify(normal)).toBe('{"__proto__":{"admin":true}}');
  });

  const ring: { next?: unknown } = {};
  ring.next = { back: [ring] };

  test.each<[name: string, value: unknown, pointer: string, reason: string]>([
    ["a BigInt", { rows: [{ "a/b": 10n }] }, "/rows/0/a~1b", "its type is bigint"],
    ["a BigInt alone", 10n, "", "The value is not JSON: its type is bigint"],
    ["a boxed BigInt", [Object(1n)], "/0", "its type is BigInt"],
    ["a function", [() => 1], "/0", "its type is function"],
    ["a symbol", { s: Symbol("s") }, "/s", "its type is symbol"],
    ["a boxed symbol", { s: Object(Symbol("s")) }, "/s", "its type is Symbol"],
    ["a map", { m: new Map() }, "/m", "its type is Map"],
    ["a set", [[], new Set([1])], "/1", "its type is Set"],
    ["a promise", [Promise.resolve(1)], "/0", "its type is Promise"],
    ["a typed array", { bytes: [new Uint8Array(2)] }, "/bytes/0", "The value at /bytes/0 is not JSON: its type is"],
    ["a buffer, in spite of its toJSON", { file: Buffer.from("x") }, "/file", "its type is Uint8Array"],
    ["a data view", [new DataView(new ArrayBuffer(1))], "/0", "its type is DataView"],
    ["an array buffer", [new ArrayBuffer(1)], "/0", "its type is ArrayBuffer"],
    ["a toJSON that says a map", { a: { toJSON: () => new Map() } }, "/a", "its type is Map"],
    ["a cycle", { ring }, "/ring/next/back/0", "it contains itself"],
  ])("%s is refused, with its place", (_name, value, pointer, reason) => {
    const error = failure(() => normalize(value));
    expect(error).toMatchObject({ code: "RESULT_NOT_JSON", pointer });
    expect(error.message).toContain(reason);
  });

  test("the value's own code that throws is refused as no JSON, whatever it throws", () => {
    const thrown = new ToolError("try again");
    const getter = {
      ok: 1,
      in: [
        {
          get total() {
            throw thrown;
          },
        },
      ],
    };
    expect(failure(() => normalize(getter))).toMatchObject({
      code: "RESULT_NOT_JSON",
      message: expect.stringContaining("reading it failed"),
      pointer: "/in/0/total",
      cause: thrown,
    });
    const toJson = {
      a: {
        toJSON() {
          throw "text";
        },
      },
    };
    expect(failure(() => normalize(toJson))).toMatchObject({ code: "RESULT_NOT_JSON", pointer: "/a", cause: "text" });
    const proxy = {
      a: [1],
      b: new Proxy(
        {},
        {
          ownKeys() {
            throw thrown;
          },
        },
      ),
    };
    expect(failure(() => normalize(proxy))).toMatchObject({ code: "RESULT_NOT_JSON", pointer: "/b" });
  });

  test("depth: as many levels as allowed, and no more", () => {
    expect(normalize(nested(3), { maxDepth: 3 })).toEqual(nested(3));
    const error = failure(() => normalize(nested(4), { maxDepth: 3 }));
    expect(error).toMatchObject({ code: "RESULT_TOO_LARGE", pointer: "/in/0/in" });
    expect(error.message).toContain("is too large: it is nested deeper than the 3 levels");
    expect(normalize("scalar", { maxDepth: 0 })).toBe("scalar");
  });

  test("no depth overflows the stack, however high the limit", () => {
    expect(normalize(nested(deepestNesting), { maxDepth: Infinity })).toEqual(nested(deepestNesting));
    expect(failure(() => normalize(nested(100_000), { maxDepth: Infinity }))).toMatchObject({
      code: "RESULT_TOO_LARGE",
    });
  });

  test.each<[name: string, value: unknown]>([
    ["text", "plain text"],
    ["quotes and backslashes", 'a"b\\c'],
    ["controls", "\b\t\n\f\r\v\u0000\u001f\u007f"],
    ["two bytes", "ß\u0080\u07ff"],
    ["three bytes", "漢\u0800\uffff"],
    ["four bytes", "🦊"],
    ["the first and the last of four bytes", "\ud800\udc00\udbff\udfff"],
    ["lone surrogates", "\ud800a\udc00\udfff\ud83e\ue000\ud83e"],
    ["numbers", [0, -1.5, 1e21, 5e-324, 123456789]],
    ["scalars", [true, false, null, undefined, Number.NaN]],
    ["nothing", undefined],
    ["containers", { a: [], b: {}, c: [[1], [2]], d: undefined, "k\n": 1 }],
  ])("bytes are those of the JSON text: %s", (_name, value) => {
    const bytes = Buffer.byteLength(JSON.stringify(value) ?? "null");
    expect(() => normalize(value, { maxBytes: bytes })).not.toThrow();
    const error = failure(() => normalize(value, { maxBytes: bytes - 1 }));
    expect(error.code).toBe("RESULT_TOO_LARGE");
    expect(error.message).toContain(`${bytes - 1} bytes`);
  });

  test("too many bytes are found at the first value that is too much", () => {
    const small = [[1, 2, 3], {}];
    expect(failure(() => normalize(small, { maxBytes: 11 })).pointer).toBe("/1");
    expect(failure(() => normalize([[1, 2, 3], []], { maxBytes: 11 })).pointer).toBe("/1");
    expect(failure(() => normalize([["a"], { a: "abc" }], { maxBytes: 14 })).pointer).toBe("/1/a");
  });

  test("a list of any length is refused unread", () => {
    const list: unknown[] = [];
    list.length = 4_000_000_000;
    expect(failure(() => normalize({ list }))).toMatchObject({ code: "RESULT_TOO_LARGE", pointer: "/list" });
  });

  test("a long place is cut in the message alone", () => {
    const key = "k".repeat(500);
    const error = failure(() => normalize({ [key]: 1n }));
    expect(error.pointer).toBe(`/${key}`);
    expect(error.message.length).toBeLessThan(400);
  });
});

describe("isJsonObject and isJsonArray", () => {
  test.each<[value: JsonValue | undefined, isObject: boolean, isArray: boolean]>([
    [{}, true, false],
    [[], false, true],
    [null, false, false],
    ["x", false, false],
    [undefined, false, false],
  ])("%j", (value, isObject, isArray) => {
    expect([isJsonObject(value), isJsonArray(value)]).toEqual([isObject, isArray]);
  });
});

describe("setOwn", () => {
  test("any name becomes an own, changeable property", () => {
    const target: Record<string, JsonValue> = {};
    setOwn(target, "a", 1);
    setOwn(target, "__proto__", { b: 2 });
    setOwn(target, "__proto__", { b: 3 });
    expect(Object.entries(target)).toEqual([
      ["a", 1],
      ["__proto__", { b: 3 }],
    ]);
    expect(Object.getPrototypeOf(target)).toBe(Object.prototype);
    const changeable = { enumerable: true, configurable: true, writable: true };
    expect(Object.getOwnPropertyDescriptor(target, "__proto__")).toEqual({ value: { b: 3 }, ...changeable });
  });
});

describe("copyJson", () => {
  test("is deep, mutable, and keeps null and __proto__", () => {
    const frozen = normalize(JSON.parse('{"list": [{"n": null}], "__proto__": {"a": 1}, "z": null}'));
    const copy = copyJson(frozen);
    expect(JSON.stringify(copy)).toBe(JSON.stringify(frozen));
    if (!isJsonObject(copy)) throw new Error("an object was copied");
    (copy.list as JsonValue[]).push(2);
    expect(JSON.stringify(frozen)).toContain('[{"n":null}]');
    expect(copyJson("x")).toBe("x");
  });

  test("refuses what is nested too deep", () => {
    expect(copyJson(nested(deepestNesting))).toEqual(nested(deepestNesting));
    expect(failure(() => copyJson(nested(100_000)))).toMatchObject({
      code: "RESULT_TOO_LARGE",
      message: expect.stringContaining("deeper than 1000 levels"),
    });
  });
});

describe("canonicalJson", () => {
  test.each<[value: JsonValue, text: string]>([
    [{ b: 1, a: [true, null, "x"], "": {} }, '{"":{},"a":[true,null,"x"],"b":1}'],
    [{ "10": 1, "9": 2 }, '{"10":1,"9":2}'],
    // RFC 8785 sorts by UTF-16 code units: a surrogate pair comes before U+FB33.
    [{ "\ufb33": 1, "😀": 2, ö: 3 }, '{"ö":3,"😀":2,"\ufb33":1}'],
    [{ n: [1e21, 0.000001, 1e-7, 333333333.3333333] }, '{"n":[1e+21,0.000001,1e-7,333333333.3333333]}'],
    ["\u20ac$\u000f\nA'B\"\\/", '"€$\\u000f\\nA\'B\\"\\\\/"'],
    [{ none: null }, '{"none":null}'],
  ])("%j", (value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });
});
