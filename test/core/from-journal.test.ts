import { expect, it } from "vitest";
import { ToolweaveError } from "../../src/core/errors.js";
import { fromJournal } from "../../src/core/from-journal.js";

it("what reading a journal gives is given", () => {
  expect(fromJournal(() => 1)).toBe(1);
});

it("an error of the library's own is thrown on, any other says that the journal is none", () => {
  const own = new ToolweaveError("CODE_REQUIRED", "no code");
  const fault = new TypeError("a fault");
  const read = (thrown: Error) => () =>
    fromJournal(() => {
      throw thrown;
    });
  expect(read(own)).toThrow(own);
  expect(read(fault)).toThrowError(
    expect.objectContaining({
      code: "INVALID_JOURNAL",
      message: "The journal holds what no run of this library records. Restore it from a copy.",
      cause: fault,
    }),
  );
});
