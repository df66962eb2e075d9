import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ToolError } from "../../src/core/errors.js";
import { listTools } from "../../src/driver/tool-list.js";
import type { ToolAdapter, ToolCallContext, ToolInfo, Tools } from "../../src/ports/tool-adapter.js";
import { defineTool } from "../../src/tools/define-tool.js";

const context: ToolCallContext = {
  runId: "r",
  stepId: "s",
  path: "s",
  attempt: 1,
  idempotencyKey: "r:s",
  signal: new AbortController().signal,
};

const find = defineTool({ name: "find", effect: "read", execute: () => [] });
const pay = defineTool({
  name: "pay",
  effect: "write",
  idempotent: true,
  inputSchema: z.object({ amount: z.number() }),
  execute: (inputs) => ({ paid: inputs.amount }),
});

/** An adapter that publishes what it is given, of any kind, and echoes its calls. */
function adapterOf(
  list: () => unknown,
  call: ToolAdapter["call"] = async (name, inputs) => ({ name, inputs }),
): ToolAdapter {
  // What a program without types can pass.
  return { list: list as ToolAdapter["list"], call };
}

function listing(published: unknown): ToolAdapter {
  return adapterOf(() => published);
}

function names(list: ReadonlyMap<string, unknown>): string[] {
  return [...list.keys()];
}

describe("listTools", () => {
  const ledger = adapterOf(() => [{ name: "balance", effect: "read" }, { name: "book" }]);
  const later = adapterOf(() => Promise.resolve([{ name: "report", effect: "read" }]));

  it.each<[string, Tools, string[]]>([
    ["one tool", find, ["find"]],
    ["one adapter", ledger, ["balance", "book"]],
    ["an array of both, in order", [later, find, ledger, pay], ["report", "find", "balance", "book", "pay"]],
    ["an array of none", [], []],
    ["an adapter of none", listing([]), []],
  ])("takes %s", async (_, tools, expected) => {
    expect(names(await listTools(tools))).toEqual(expected);
  });

  it("reads what a tool does not say as a write that is not idempotent", async () => {
    const list = await listTools([ledger, pay, find]);
    expect(list.get("book")).toMatchObject({ name: "book", effect: "write", idempotent: false });
    expect(list.get("balance")).toMatchObject({ effect: "read", idempotent: false });
    expect(list.get("pay")).toMatchObject({ effect: "write", idempotent: true });
  });

  it("bears what the tool publishes, and its schema compiled", async () => {
    const info = { name: "book", title: "Book", site: "Ledger", inputSchema: { type: "object", required: ["a"] } };
    const list = await listTools([listing([info]), find]);
    expect(list.get("book")?.info).toMatchObject(info);
    expect(list.get("book")?.schema?.validateJson({})).toHaveLength(1);
    expect(list.get("find")?.schema).toBeUndefined();
  });

  it("knows names as its own keys alone", async () => {
    const list = await listTools([listing([{ name: "__proto__" }, { name: "constructor" }]), find]);
    expect(names(list)).toEqual(["__proto__", "constructor", "find"]);
    expect(list.get("toString")).toBeUndefined();
  });

  it("asks an adapter anew each time, and keeps what a frozen tool said", async () => {
    let version = 0;
    const adapter = adapterOf(() => [{ name: "book", version: String(++version) }]);
    const tools = [adapter, pay];
    const first = await listTools(tools);
    const second = await listTools(tools);
    expect(first.get("book")?.info.version).toBe("1");
    expect(second.get("book")?.info.version).toBe("2");
    expect(second.get("pay")).toBe(first.get("pay"));
  });

  it("gives the same list for the same frozen tools, until the array changes", async () => {
    const tools = [find];
    const first = await listTools(tools);
    expect(await listTools(tools)).toBe(first);
    tools[0] = pay;
    expect(names(await listTools(tools))).toEqual(["pay"]);
    tools.push(find);
    expect(names(await listTools(tools))).toEqual(["pay", "find"]);
    expect(await listTools(pay)).toBe(await listTools(pay));
  });

  it("sees a change of a tool that is not frozen", async () => {
    const tool = { name: "own", version: "1", execute: () => 1 };
    expect((await listTools(tool)).get("own")?.info.version).toBe("1");
    tool.version = "2";
    expect((await listTools(tool)).get("own")?.info.version).toBe("2");
  });

  it("is not changed by what becomes of an adapter's objects", async () => {
    const info: ToolInfo = { name: "book", effect: "write" };
    const listed = (await listTools(listing([info]))).get("book");
    info.effect = "read";
    expect(listed).toMatchObject({ effect: "write", info: { effect: "write" } });
  });

  it("keeps a preview bound to its object", async () => {
    class Booking {
      name = "book";
      page = "Journal";
      preview() {
        return { page: this.page };
      }
    }
    const list = await listTools(listing([new Booking()]));
    expect(list.get("book")?.info.preview?.({})).toEqual({ page: "Journal" });
  });
});

describe("listTools refuses", () => {
  const unreadable = Object.defineProperty({ name: "t" }, "effect", {
    get() {
      throw new Error("trapped");
    },
  });
  it.each<[string, unknown, string, string]>([
    ["nothing", undefined, "INVALID_OPTIONS", "tools[0] is neither a tool"],
    ["tools by name", { find }, "INVALID_OPTIONS", "tools[0] is neither a tool"],
    ["a name", [find, "pay"], "INVALID_OPTIONS", "tools[1] is neither a tool"],
    ["a promise of an adapter", Promise.resolve(find), "INVALID_OPTIONS", "await what is a promise"],
    ["an adapter that can't be called", { list: () => [] }, "INVALID_OPTIONS", "tools[0] is neither a tool"],
    [
      "a list that is none",
      [find, listing({ tools: [] })],
      "INVALID_OPTIONS",
      "tools[1]: list() must give an array of tools.",
    ],
    ["a published text", listing(["book"]), "INVALID_OPTIONS", "tools[0].list()[0]: a tool is an object"],
    ["a hole in a list", listing(new Array(1)), "INVALID_OPTIONS", "tools[0].list()[0]: a tool is an object"],
    [
      "a tool without a name",
      listing([find, { effect: "read" }]),
      "INVALID_OPTIONS",
      "tools[0].list()[1]: name must be",
    ],
    ["a tool of one's own without a name", { execute: () => 1 }, "INVALID_OPTIONS", "tools[0]: name must be"],
    ["another effect", listing([{ name: "book", effect: "READ" }]), "INVALID_OPTIONS", 'Tool "book": effect must be'],
    [
      "fields that can't be read",
      listing([unreadable]),
      "INVALID_OPTIONS",
      "tools[0].list()[0]: what it publishes can't be read: trapped",
    ],
    ["a schema that is none", listing([{ name: "book", inputSchema: 5 }]), "INVALID_SCHEMA", 'Tool "book": '],
    [
      "a name twice in a list",
      listing([{ name: "book" }, { name: "book" }]),
      "DUPLICATE_TOOL",
      'Tool "book" is published twice',
    ],
    ["a name in two places", [find, listing([{ name: "find" }])], "DUPLICATE_TOOL", 'Tool "find" is published twice'],
    ["one tool twice", [pay, pay], "DUPLICATE_TOOL", 'Tool "pay" is published twice'],
  ])("%s", async (_, tools, code, message) => {
    // What a program without types can pass.
    const list: (tools: never) => Promise<unknown> = listTools;
    await expect(list(tools as never)).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
  });

  it.each<[string, () => unknown]>([
    [
      "throws",
      () => {
        throw new Error("401 for Bearer abc123");
      },
    ],
    ["rejects", () => Promise.reject(new Error("401 for Bearer abc123"))],
    [
      "gives a list that throws",
      () =>
        new Proxy([1], {
          get() {
            throw new Error("401 for Bearer abc123");
          },
        }),
    ],
  ])("an adapter whose list %s, as a failure that applied nothing", async (_, list) => {
    const failing = listTools([find, adapterOf(list)]);
    await expect(failing).rejects.toBeInstanceOf(ToolError);
    await expect(failing).rejects.toMatchObject({
      outcome: "not_applied",
      message: "tools[1] could not list its tools: 401 for Bearer [removed]",
    });
  });
});

describe("a listed tool", () => {
  it("is called with the inputs and the context", async () => {
    const list = await listTools([pay, adapterOf(() => [{ name: "book" }])]);
    expect(await list.get("pay")?.call({ amount: 5 }, context)).toEqual({ paid: 5 });
    expect(await list.get("book")?.call({ a: 1 }, context)).toEqual({ name: "book", inputs: { a: 1 } });
  });

  it("hands the context on as it is", async () => {
    const echo = defineTool({ name: "echo", effect: "read", execute: (_, given) => Object.is(given, context) });
    const list = await listTools([
      echo,
      adapterOf(
        () => [{ name: "book" }],
        async (_, __, given) => Object.is(given, context),
      ),
    ]);
    expect(await list.get("echo")?.call({}, context)).toBe(true);
    expect(await list.get("book")?.call({}, context)).toBe(true);
  });

  it("calls methods of their objects", async () => {
    class Ledger {
      names = ["book"];
      list() {
        return this.names.map((name) => ({ name }));
      }
      async call(name: string) {
        return this.names.indexOf(name);
      }
    }
    class Clerk {
      name = "clerk";
      greeting = "good day";
      execute() {
        return this.greeting;
      }
    }
    const list = await listTools([new Ledger(), new Clerk()]);
    expect(await list.get("book")?.call({}, context)).toBe(0);
    expect(await list.get("clerk")?.call({}, context)).toBe("good day");
  });
});
