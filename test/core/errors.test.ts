import { describe, expect, it, test } from "vitest";
import {
  ConflictError,
  causeToJson,
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
    expect(error.toJSON()).toEqual(data);
    const again = errorFromJson(error.toJSON());
    expect(isToolweaveError(again)).toBe(true);
    expect(again.toJSON()).toEqual({ ...data, cause: { message: "deep", name: "Error" } });
  });

  it("holds only what was given", () => {
    expect(new ToolweaveError("TIMED_OUT", "m").toJSON()).toEqual({ code: "TIMED_OUT", message: "m" });
    expect({ ...new ToolError("m") }).toEqual({ name: "ToolError", code: "TOOL_FAILED", outcome: "not_applied" });
    expect(new ToolError("m", { outcome: "refused", retryAfterMs: 5 })).toMatchObject({
      code: "TOOL_REFUSED",
      retryAfterMs: 5,
    });
    expect(new ConflictError("r", 3)).toMatchObject({
      code: "STORE_CONFLICT",
      message: expect.stringContaining("Run r: other records than the 3"),
    });
  });

  it("is told from a fault, which is thrown on", () => {
    const fault = new TypeError("a fault");
    expect(() => errorDataOf(fault)).toThrow(fault);
    expect(errorDataOf(new ToolweaveError("TIMED_OUT", "m"), { path: "a" })).toEqual({
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
  ["x".repeat(3_000), `${"x".repeat(2_000)}…`],
  [`${"x".repeat(1_999)}😀`, `${"x".repeat(1_999)}…`],
])("the text of what was thrown: %#", (thrown, text) => {
  expect(errorText(thrown)).toBe(text);
});

test("a chain of causes is kept so far", () => {
  let error: unknown = Object.assign(new Error("0"), { code: "E" });
  for (let depth = 1; depth < 20; depth++) error = new Error(String(depth), { cause: error });
  const data = causeToJson(error);
  expect(JSON.stringify(data).match(/"message"/g)).toHaveLength(8);
  expect(causeToJson(Object.assign(new Error("m"), { code: "E", cause: null }))).toEqual({
    name: "Error",
    message: "m",
    code: "E",
  });
  expect(causeToJson({ message: "m", code: 5, name: undefined })).toEqual({ message: "m" });
  expect(causeToJson(hostile)).toEqual({ message: "an error that could not be read" });
});
