import { readFileSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import {
  normalizeToolCalls,
  type ProviderName,
  toAssistantMessage,
  toToolMessages,
} from "../../src/providers/index.js";

// As the page says: the file, and an entry in the list.
vi.mock("../../src/providers/list.js", async (importOriginal) => {
  const list = await importOriginal<typeof import("../../src/providers/list.js")>();
  const { acme } = await import("./acme.js");
  return { ...list, providers: [acme, ...list.providers] };
});

const { providers } =
  await vi.importActual<typeof import("../../src/providers/list.js")>("../../src/providers/list.js");
const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");
const page = read("docs/providers.md");

describe("docs/providers.md", () => {
  it.each(providers.map(({ name }) => name))("tells of %s", (name) => {
    expect(page).toContain(`| \`${name}\` |`);
  });

  it("shows the provider that is tested here", () => {
    const file = read("test/providers/acme.ts")
      .replace("../../src/core/", "../core/")
      .replaceAll("../../src/providers/", "./");
    expect(page).toContain(`\`\`\`\n${file}\`\`\``);
  });
});

describe("a provider added as the page says", () => {
  const invoke = { ref: "r1", tool: "lamp", with: { on: true } };
  const calls = normalizeToolCalls({ reply: [{ say: "Light!" }, { invoke }], ended: "done" });

  it("is read", () => {
    expect(calls).toMatchObject([{ id: "r1", index: 0, name: "lamp", arguments: { on: true } }]);
    expect(normalizeToolCalls({ reply: [{ invoke }], ended: "limit" })).toMatchObject([{ arguments: null }]);
  });

  it("is answered", () => {
    // Its name is in the union of names once it is in the list.
    const name: ProviderName = JSON.parse('"acme"');
    expect(toAssistantMessage(name, calls)).toEqual({ by: "model", reply: [{ invoke }] });
    const entry = { success: true, id: "r1", name: "lamp", arguments: null, flow: null, result: 1, content: "1" };
    expect(toToolMessages(name, calls, [entry])).toEqual([{ by: "tool", ref: "r1", text: "1", failed: false }]);
  });
});
