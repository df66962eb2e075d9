import { describe, expect, test } from "vitest";
import { memoryStore } from "../../src/stores/memory.js";
import { conform } from "./conform.js";

describe("memoryStore", () => {
  conform(() => {
    const store = memoryStore();
    return { store, reopen: () => store };
  });
});
