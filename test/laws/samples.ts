import { calls, look, post, put, type Sample, sample, undoBy } from "./sample.js";

export const samples: readonly Sample[] = [
  sample("chain", {
    steps: [look("find"), put("pay"), post("tell", { of: "{{steps.pay.result.id}}" }), look("check")],
  }),
  sample("chain_fails", { steps: [put("pay"), look("find"), post("tell"), put("ship"), look("check", { b: "fail" })] }),
  sample("retries", {
    steps: [
      look("find", { b: "fail_once" }, { retries: 1 }),
      put("pay", { b: "fail_once" }, { retries: 2 }),
      post("tell", { b: "lose_reply" }, { retries: 1 }),
      put("ship", { b: "fail" }, { retries: 1 }),
    ],
  }),
  sample("doubts", {
    steps: [
      put("pay", { b: "lose_reply" }),
      put("ship", { b: "lose_call" }),
      put("bill", { b: "unknown" }, { compensate: { tool: "erase", inputs: { of: "bill" }, if_in_doubt: true } }),
    ],
  }),
  sample("fallback", {
    steps: [
      put(
        "pay",
        { b: "fail" },
        {
          fallback: {
            tool: "post",
            inputs: { why: "{{error.code}}" },
            compensate: { tool: "revoke", inputs: { of: "{{steps.pay.result.id}}" } },
          },
        },
      ),
      look("find", { b: "refuse" }, { retries: 1, fallback: { tool: "look", inputs: {} } }),
      put("ship", { b: "refuse" }, { fallback: { tool: "put", inputs: { b: "fail" } } }),
    ],
  }),
  sample("undo_faults", {
    steps: [
      put("first"),
      put("unresolved", {}, { compensate: { tool: "erase", inputs: { of: "{{steps.unresolved.result.no}}" } } }),
      put("broken", {}, undoBy("broken", "fail")),
      put("again", {}, undoBy("again", "fail_once", { retries: 1 })),
      put("doubted", {}, undoBy("doubted", "lose_reply")),
      put("bare", {}, { compensate: undefined }),
      put("refused", { no: true }),
    ],
  }),
  sample("parallel", {
    steps: [
      {
        id: "both",
        parallel: [put("pay"), post("tell", { turns: 3 }), look("find", { turns: 2 }), put("ship", { turns: 5 })],
      },
      look("check", { of: "{{steps.tell.result.id}}" }),
    ],
  }),
  sample("parallel_fails", {
    races: true,
    steps: [
      put("before"),
      {
        id: "both",
        parallel: [
          put("pay"),
          put("ship", { turns: 30 }),
          look("find", { b: "fail", turns: 12 }),
          post("tell", { b: "lose_reply", turns: 9 }, { retries: 2 }),
          { id: "wait", sleep_ms: 5_000 },
        ],
      },
    ],
  }),
  sample("nested_retry", {
    steps: [
      put("pay"),
      { id: "settle", workflow: "outer", inputs: { n: 1 }, retries: 1 },
      look("check", { of: "{{steps.settle.result}}" }),
    ],
    children: {
      outer: {
        steps: [put("book"), { id: "deep", workflow: "inner", inputs: {} }],
        output: { deep: "{{steps.deep.result}}" },
      },
      inner: [put("note"), post("tell"), look("find", { b: "fail_until_2" })],
    },
  }),
  sample("nested_fails", {
    steps: [
      put("pay"),
      {
        id: "settle",
        workflow: "outer",
        inputs: {},
        retries: 1,
        fallback: {
          tool: "put",
          inputs: {},
          compensate: { tool: "erase", inputs: { of: "{{steps.settle.result.id}}" } },
        },
      },
      { id: "again", workflow: "outer", inputs: {} },
    ],
    children: { outer: [put("book"), put("note"), look("find", { b: "fail" })] },
  }),
  sample("container_undo", {
    steps: [
      put("pay"),
      {
        id: "settle",
        workflow: "inner",
        inputs: {},
        compensate: { tool: "erase", inputs: { of: "{{steps.settle.result.id}}" } },
      },
      post("tell"),
      look("find", { b: "fail" }),
    ],
    children: { inner: [put("book"), put("note")] },
  }),
  sample("each_in_turn", {
    input: { items: ["ok", "fail_once", "ok"] },
    steps: [
      {
        id: "each",
        for_each: { items: "{{input.items}}", workflow: "one", inputs: { b: "{{item}}", n: "{{index}}" } },
      },
      put("pay"),
      look("find", { b: "fail" }),
    ],
    children: { one: [look("read", {}), put("write", { b: "{{input.b}}" }, { retries: 1 })] },
  }),
  sample("each_fails_fast", {
    races: true,
    input: { items: ["ok", "ok", "fail", "ok", "ok"] },
    steps: [
      put("pay"),
      {
        id: "each",
        for_each: { items: "{{input.items}}", workflow: "one", inputs: { b: "{{item}}" }, max_concurrent: 3 },
      },
    ],
    children: { one: [put("write"), look("read", { b: "{{input.b}}" })] },
  }),
  sample("each_ignores", {
    input: { items: ["ok", "fail", "ok", "refuse"] },
    steps: [
      {
        id: "each",
        for_each: {
          items: "{{input.items}}",
          workflow: "one",
          inputs: { b: "{{item}}" },
          max_concurrent: 2,
          on_error: "ignore",
        },
      },
      post("tell", { of: "{{steps.each.result}}" }),
    ],
    children: { one: [put("write"), put("more"), look("read", { b: "{{input.b}}" })] },
  }),
  sample("repeats", {
    steps: [
      {
        id: "until",
        repeat: {
          workflow: "turn",
          inputs: { done: false },
          state: 0,
          until: { equals: ["{{result.state}}", 2] },
          max_iterations: 4,
        },
      },
      {
        id: "done",
        repeat: { workflow: "turn", inputs: { done: true }, state: 7, max_iterations: 2, delay_ms: 100 },
      },
      {
        id: "short",
        repeat: { workflow: "turn", inputs: { done: false }, state: 5, max_iterations: 2, delay_ms: 100 },
      },
    ],
    children: {
      turn: {
        steps: [put("write", { give: "{{input.iteration}}" })],
        output: { done: "{{input.done}}", state: "{{steps.write.result.given}}" },
      },
    },
  }),
  sample("dispatch_ignores", {
    input: {
      turn: calls(
        ["book", { b: "ok" }],
        ["save", { b: "ok" }],
        ["book", { b: "fail" }],
        ["nobody", {}],
        ["save", { b: "refuse" }],
      ),
    },
    steps: [
      {
        id: "serve",
        tool_dispatch: {
          source_key: "turn",
          tools: { book: { flow: "book", input: { b: "arguments.b" } }, save: { tool: "put" } },
          on_error: "ignore",
          max_concurrent: 2,
        },
      },
      look("check"),
    ],
    children: { book: [put("write"), look("read", { b: "{{input.b}}" })] },
  }),
  sample("dispatch_fails_fast", {
    races: true,
    input: {
      turn: calls(["book", { b: "ok" }], ["save", { b: "fail" }], ["book", { b: "ok" }], ["save", { b: "ok" }]),
    },
    steps: [
      put("pay"),
      {
        id: "serve",
        tool_dispatch: {
          source_key: "turn",
          tools: { book: { flow: "book", input: { b: "arguments.b" } }, save: { tool: "post" } },
          max_concurrent: 2,
        },
      },
    ],
    children: { book: [put("write"), look("read", { b: "{{input.b}}" }), put("more")] },
  }),
  sample("people_and_time", {
    input: { flag: false },
    steps: [
      put("pay"),
      { id: "name", ask: { prompt: "Whose is it?" } },
      look("never", {}, { when: "{{input.flag}}" }),
      { id: "nap", sleep_ms: 3_000 },
      { id: "late", ask: { prompt: "And?", default: "nothing", expires_after_ms: 60_000 } },
      put("ship", { to: "{{steps.name.result}}", also: "{{steps.late.result}}" }),
    ],
  }),
  sample("deadlines", {
    steps: [
      put("pay"),
      look("slow", { b: "hang" }, { timeout_ms: 1_000, fallback: { tool: "look", inputs: {} } }),
      put("ship", { b: "fail_once" }, { retries: 1, timeout_ms: 30_000 }),
      { id: "stuck", workflow: "stuck", inputs: {}, timeout_ms: 2_000 },
    ],
    children: { stuck: [put("book"), look("wait", { b: "hang" })] },
  }),
  sample("run_out_of_time", {
    races: true,
    timeout_ms: 5_000,
    steps: [
      put("pay"),
      { id: "both", parallel: [put("slow", { b: "late" }), post("tell"), { id: "nap", sleep_ms: 9_000 }] },
    ],
  }),
  sample("mixed", {
    input: { items: ["ok", "ok"] },
    steps: [
      {
        id: "all",
        parallel: [
          { id: "settle", workflow: "inner", inputs: { b: "ok" }, retries: 1 },
          {
            id: "each",
            for_each: { items: "{{input.items}}", workflow: "inner", inputs: { b: "{{item}}" }, max_concurrent: 2 },
          },
          { id: "who", ask: { prompt: "Who?" } },
        ],
      },
      post("tell", { to: "{{steps.who.result}}" }),
      put("pay", { b: "fail" }),
    ],
    children: { inner: [put("book"), look("read", { b: "{{input.b}}" }), post("note")] },
  }),
];
