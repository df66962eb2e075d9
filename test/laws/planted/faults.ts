/** A deliberate fault of the engine: a text of one file that is replaced by another. */
export interface PlantedFault {
  readonly name: string;
  readonly file: string;
  /** Occurs once. */
  readonly find: string;
  readonly replace: string;
  /** The samples that show it. */
  readonly samples: readonly string[];
}

export const plantedFaults: readonly PlantedFault[] = [
  {
    name: "what is oldest is undone first",
    file: "core/undo.ts",
    find: "scope.undo.sort((a, b) => a.seq - b.seq);",
    replace: "scope.undo.sort((a, b) => b.seq - a.seq);",
    samples: ["chain_fails"],
  },
  {
    name: "the newest is undone twice",
    file: "core/undo.ts",
    find: "for (let entry = scope.undo.pop(); entry",
    replace: "for (let entry = scope.undo.at(-1); entry",
    samples: ["chain_fails"],
  },
  {
    name: "a compensation is forgotten when its step completes",
    file: "core/settle.ts",
    find: "if (undo !== undefined) fact.undo = undo;",
    replace: "",
    samples: ["chain_fails"],
  },
  {
    name: "what a child did is not handed up to be undone",
    file: "core/tree.ts",
    find: "for (const entry of node.undo) owner.undo.push(entry);",
    replace: "",
    samples: ["nested_fails"],
  },
  {
    name: "undoing begins while writes are in flight",
    file: "core/scope.ts",
    find: "  if (!hasLive(scope)) beginUndo(state, scope, failing);",
    replace: "  beginUndo(state, scope, failing);",
    samples: ["parallel_fails"],
  },
  {
    name: "a write in flight is dropped when its sibling fails",
    file: "core/scope.ts",
    find: 'if (call.phase === "intended") {',
    replace: "if (false) {",
    samples: ["parallel_fails"],
  },
  {
    name: "a crash forgets what was in flight",
    file: "core/apply.ts",
    find: "for (const call of state.intended) {",
    replace: "for (const call of new Set<Call>()) {",
    samples: ["chain"],
  },
  {
    name: "a write in doubt is made again after a crash without asking",
    file: "core/next-call.ts",
    find: "if (call.interrupted && call.idempotent) return again(",
    replace: "if (call.interrupted) return again(",
    samples: ["chain"],
  },
  {
    name: "a write in doubt is retried though its tool is not idempotent",
    file: "core/retry.ts",
    find: "(!inDoubt || call.idempotent);",
    replace: "true;",
    samples: ["retries"],
  },
  {
    name: "a later failure settles the doubt of an earlier attempt",
    file: "core/retry.ts",
    find: "(call.doubt !== undefined && !call.vouched && !settles);",
    replace: "false;",
    samples: ["posted"],
  },
  {
    name: "a retry forgets that the attempt before was in doubt",
    file: "core/outcomes.ts",
    find: 'if (record.outcome === "in_doubt") {',
    replace: "if (false) {",
    samples: ["posted"],
  },
  {
    name: "a write that is done stays told as in doubt",
    file: "core/outcomes.ts",
    find: 'if (call.write !== undefined) call.write.state = "done";',
    replace: "",
    samples: ["chain"],
  },
  {
    name: "a write that failed is told as done",
    file: "core/outcomes.ts",
    find: 'not_applied: "failed"',
    replace: 'not_applied: "done"',
    samples: ["chain"],
  },
  {
    name: "a person's edits are dropped",
    file: "driver/ask-write.ts",
    find: "const inputs = editedFields(question, answer);",
    replace: "const inputs = question.fields;",
    samples: ["edited"],
  },
  {
    name: "an answer to a question that was answered counts again",
    file: "core/replies.ts",
    find: "closeQuestion(state, call, closedBy(reply));",
    replace: "",
    samples: ["chain"],
  },
  {
    name: "an answer wakes nobody",
    file: "core/replies.ts",
    find: '  call.phase = "answered";\n  queue(state, call);',
    replace: '  call.phase = "answered";',
    samples: ["chain"],
  },
  {
    name: "what a person rejects runs",
    file: "core/replies.ts",
    find: 'if (reply.kind === "approval" && reply.answer.decision === "approve") call.approval = reply;',
    replace:
      'if (reply.kind === "approval") {\n    call.approval = { ...reply, answer: { decision: "approve" } };\n    call.phase = "ready";\n    return queue(state, call);\n  }',
    samples: ["chain"],
  },
  {
    name: "what the policy rejects runs",
    file: "driver/ask-write.ts",
    find: 'if (decision === "reject") {',
    replace: "if (false) {",
    samples: ["undo_faults"],
  },
  {
    name: "nobody is asked about an undo",
    file: "driver/ask-write.ts",
    find: "  const { decision, reason, expiresAfterMs } = await askPolicy(",
    replace:
      '  if (effect.node.purpose === "undo") return intent(route, tool, effect, inputs, { at: "" }, shown);\n' +
      "  const { decision, reason, expiresAfterMs } = await askPolicy(",
    samples: ["chain_fails"],
  },
  {
    name: "nobody is asked about a fallback",
    file: "driver/ask-write.ts",
    find: "  const { decision, reason, expiresAfterMs } = await askPolicy(",
    replace:
      '  if (effect.node.purpose === "fallback") return intent(route, tool, effect, inputs, { at: "" }, shown);\n' +
      "  const { decision, reason, expiresAfterMs } = await askPolicy(",
    samples: ["fallback"],
  },
  {
    name: "a write is called before its intent is stored",
    file: "driver/begin.ts",
    find: "const hasBegun = await owned.begin(beginnings.map(({ fact }) => fact));",
    replace: "const hasBegun = true;\n  void owned.begin(beginnings.map(({ fact }) => fact));",
    samples: ["chain"],
  },
  {
    name: "a write is called though its intent met the records of others",
    file: "driver/owned-run.ts",
    find: "this.applyOthers(others);\n        return false;",
    replace: "this.applyOthers(others);\n        return true;",
    samples: ["chain"],
  },
  {
    name: "an outcome that met the records of others is not stored",
    file: "driver/owned-run.ts",
    find: "if (others === undefined) break;",
    replace: "break;",
    samples: ["chain"],
  },
  {
    name: "a driver that was taken over goes on",
    file: "driver/owned-run.ts",
    find: 'if (record.kind !== "run_taken") {',
    replace: "if (true) {",
    samples: ["chain"],
  },
  {
    name: "a cancel is forgotten",
    file: "core/next.ts",
    find: "if (state.cancelRequested && !state.cancelBegun && !state.root.failing?.undoing)",
    replace: "if (false)",
    samples: ["chain"],
  },
  {
    name: "every attempt has its own idempotency key",
    file: "driver/handle.ts",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of the source
    find: "this.idempotencyKey = `${runId}:${path}`",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of the source
    replace: "this.idempotencyKey = `${runId}:${path}:${handle.attempt}`",
    samples: ["chain"],
  },
];
