import { describe, expect, it, test } from "vitest";
import {
  ConflictError,
  causeToJson,
  DefinitionError,
  errorDataOf,
  errorFromJson,
  errorText,
  isToolweaveError,
  ToolError,
  ToolweaveError,
} from "../../src/core/errors.js";

describe("an error", () => {
  it("is data there and back", () => {
    const options = { stepId: "a", path: "p/a", pointer: "/x", details: { n: 1 }, cause: new Error("deep") };
    const error = new ToolweaveError("TIMED_OUT", "too late", options);
    const data = { code: "TIMED_OUT", message: "too late", ...options, cause: { name: "Error", message: "deep" } };
    expect(error.toJSON()).toStrictEqual(data);
    const again = errorFromJson(error.toJSON());
    expect(isToolweaveError(again)).toBe(true);
    expect(again.toJSON()).toStrictEqual({ ...data, cause: { message: "deep", name: "Error" } });
  });

  it("holds only what was given", () => {
    expect(new ToolweaveError("TIMED_OUT", "m").toJSON()).toStrictEqual({ code: "TIMED_OUT", message: "m" });
    expect({ ...new ToolError("m") }).toEqual({ name: "ToolError", code: "TOOL_FAILED", outcome: "not_applied" });
    expect({ ...new ToolweaveError("TIMED_OUT", "m") }).toEqual({ name: "ToolweaveError", code: "TIMED_OUT" });
    expect("cause" in new ToolweaveError("TIMED_OUT", "m")).toBe(false);
    expect(new ToolError("m", { outcome: "refused", retryAfterMs: 5 })).toMatchObject({
      code: "TOOL_REFUSED",
      retryAfterMs: 5,
    });
    expect(new ConflictError("r", 3)).toMatchObject({
      name: "ConflictError",
      code: "STORE_CONFLICT",
      message: expect.stringContaining("Run r: other records than the 3"),
    });
  });

  it("of a document holds its problems, also as data", () => {
    const problems = [{ code: "UNKNOWN_KEY", message: "no key", pointer: "/a" }] as const;
    const error = new DefinitionError("m", problems);
    expect(error).toMatchObject({ name: "DefinitionError", code: "INVALID_DEFINITION", problems });
    expect(error.toJSON()).toStrictEqual({ code: "INVALID_DEFINITION", message: "m", details: { problems } });
  });

  it("is told from a fault, which is thrown on", () => {
    const fault = new TypeError("a fault");
    expect(() => errorDataOf(fault)).toThrow(fault);
    expect(errorDataOf(new ToolweaveError("TIMED_OUT", "m"), { path: "a" })).toStrictEqual({
      code: "TIMED_OUT",
      message: "m",
      path: "a",
    });
  });
});

const hostile = new Proxy(
  {},
  {
    get() {
      throw new Error("no");
    },
    has() {
      throw new Error("no");
    },
  },
);

test("what is no error of ours is known as that, whatever it is", () => {
  for (const value of [null, 1, "text", {}, new Error("x"), hostile]) expect(isToolweaveError(value)).toBe(false);
});

test.each<[thrown: unknown, text: string]>([
  [new Error("said"), "said"],
  ["text", "text"],
  [undefined, "undefined"],
  [null, "null"],
  [{ n: 1 }, '{"n":1}'],
  [{ toJSON: () => undefined }, "an object"],
  [hostile, "an error that could not be read"],
  ["x".repeat(2_000), "x".repeat(2_000)],
  ["x".repeat(3_000), `${"x".repeat(2_000)}…`],
  [`\uD83D…${"x".repeat(3_000)}`, `\uD83D…${"x".repeat(1_998)}…`],
  [`${"x".repeat(1_999)}😀`, `${"x".repeat(1_999)}…`],
])("the text of what was thrown: %#", (thrown, text) => {
  expect(errorText(thrown)).toBe(text);
});

test("a chain of causes is kept so far", () => {
  let error: unknown = Object.assign(new Error("0"), { code: "E" });
  for (let depth = 1; depth < 20; depth++) error = new Error(String(depth), { cause: error });
  const data = causeToJson(error);
  expect(JSON.stringify(data).match(/"message"/g)).toHaveLength(8);
  expect(causeToJson(Object.assign(new Error("m"), { code: "E", cause: null }))).toStrictEqual({
    name: "Error",
    message: "m",
    code: "E",
  });
  expect(causeToJson({ message: "m", code: 5, name: undefined })).toStrictEqual({ message: "m" });
  expect([causeToJson("text"), causeToJson(null)]).toStrictEqual([{ message: "text" }, { message: "null" }]);
  expect(causeToJson(hostile)).toStrictEqual({ message: "an error that could not be read" });
});
