import { ToolError } from "../../src/core/errors.js";
import type { JsonObject } from "../../src/core/json.js";
import type { ToolCallContext } from "../../src/ports/tool-adapter.js";
import { fakeState } from "../../src/testing/fake-state.js";
import { type FakeTool, fakeTool } from "../../src/testing/fake-tool.js";
import { behaviourOf, resultOf } from "./world.js";

/** Keys of the effects that were made; those of tools that are not idempotent as often as they were made. */
const effects = fakeState<string[]>([]);

/** The tools of the samples, as the simulator takes them: what fails by itself is told by the input `b`. */
export const fakeTools: readonly FakeTool[] = [
  fakeTool({ name: "look", effect: "read", execute: (inputs, context) => answer("look", inputs, context) }),
  write("put", false),
  write("post", true),
  write("erase", false),
  write("revoke", true),
];

function write(name: string, idempotent: boolean): FakeTool {
  return fakeTool({
    name,
    idempotent,
    execute(inputs, context) {
      const result = answer(name, inputs, context);
      const { idempotencyKey } = context;
      if (!idempotent || !effects.value.includes(idempotencyKey)) effects.value.push(idempotencyKey);
      return result;
    },
  });
}

function answer(tool: string, inputs: JsonObject, { path, attempt }: ToolCallContext): JsonObject {
  const behaviour = behaviourOf(inputs);
  if (behaviour === "refuse") throw new ToolError("It is refused.", { outcome: "refused" });
  const fails =
    behaviour === "fail" ||
    (behaviour === "fail_once" && attempt === 1) ||
    (behaviour === "fail_until_2" && !path.includes("#2"));
  if (fails) throw new ToolError("It did not work.");
  return resultOf(tool, path, inputs);
}
