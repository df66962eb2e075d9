import { describe, expect, it } from "vitest";
import { ToolweaveError } from "../../src/core/errors.js";
import type { JsonValue } from "../../src/core/json.js";
import { refuseSecrets, scrubber } from "../../src/driver/scrub.js";

const secret = 'k3y/"ü \n+open!';
const scrub = scrubber([secret]);
const base64 = (text: string) => Buffer.from(text).toString("base64");
const base64url = (text: string) => Buffer.from(text).toString("base64url");
const json = JSON.stringify(secret).slice(1, -1);

describe("a secret is found and taken out", () => {
  it.each([
    ["as it is", secret],
    ["JSON-escaped", json],
    ["JSON-escaped to ASCII, as Python does", json.replace("ü", "\\u00fc")],
    ["JSON-escaped with slashes, as PHP does", json.replace("/", "\\/").replace("ü", "\\u00fc")],
    ["URL-encoded", encodeURIComponent(secret)],
    ["URL-encoded in small letters", encodeURIComponent(secret).replace(/%../g, (octet) => octet.toLowerCase())],
    ["as a form field", new URLSearchParams({ a: secret }).toString().slice(2)],
    ["as a form field in small letters", "k3y%2f%22%c3%bc+%0a%2bopen%21"],
    ...[0, 1, 2].flatMap((offset) => [
      [`in base64 at offset ${offset}`, base64(`${"#".repeat(offset)}${secret}#`)],
      [`in base64url at offset ${offset}`, base64url(`${"#".repeat(offset)}${secret}`)],
    ]),
  ])("%s", (_name, form) => {
    expect(scrub.finds([{ a: `before ${form} behind` }])).toBe(true);
    const text = scrub.text(`before ${form} behind`);
    expect(text).toMatch(/^before .*\[secret removed\].* behind$/);
    expect(scrub.finds(text)).toBe(false);
  });

  it("in keys, too", () => {
    expect(scrub.value({ [`x-${secret}`]: [secret, 1, null] })).toEqual({
      "x-[secret removed]": ["[secret removed]", 1, null],
    });
  });

  it("in every part of an error that is foreign", () => {
    const cause = { message: secret, name: secret, code: secret, cause: { message: secret } };
    const error = scrub.error({
      code: "TOOL_FAILED",
      message: secret,
      pointer: `/${secret}`,
      details: { secret },
      cause,
    });
    expect(scrub.finds(JSON.parse(JSON.stringify(error)))).toBe(false);
    expect(error).toMatchObject({ code: "TOOL_FAILED", cause: { cause: { message: "[secret removed]" } } });
  });

  it("where a text was cut within it", () => {
    expect(scrub.error({ code: "TOOL_FAILED", message: `key is ${secret.slice(0, 9)}…` }).message).toBe(
      "key is [secret removed]…",
    );
  });

  it("the longest first, where one holds another", () => {
    expect(scrubber(["password", "password-two"]).text("password-two password")).toBe(
      "[secret removed] [secret removed]",
    );
  });

  it.each([
    ["holds a part of what stands for it", "[secret "],
    ["may stand across its end", "]/[]{}()"],
    ["is a part of it", "secret removed"],
  ])("with another mark where it %s", (_name, other) => {
    const { text, finds } = scrubber([other, "password"]);
    for (const given of [other, `password${other.slice(1)}`, `${other.slice(0, -1)}password`, other + other]) {
      expect(finds(text(given))).toBe(false);
    }
  });
});

describe("what holds no secret", () => {
  it.each<JsonValue>([null, 1, "text", ["a"], { a: { b: "c" } }])("is given back as it is: %j", (value) => {
    expect(scrub.value(value)).toBe(value);
    expect(scrub.finds(value)).toBe(false);
  });

  it("costs nothing where there are no secrets: nothing is read", () => {
    const none = scrubber([]);
    const unread = new Proxy({}, { ownKeys: () => expect.unreachable(), get: () => expect.unreachable() });
    expect(none.finds(unread)).toBe(false);
    expect(none.value(unread)).toBe(unread);
  });

  it("keeps an own key named __proto__ as data", () => {
    expect(JSON.stringify(scrub.value(JSON.parse(JSON.stringify({ a: secret }).replace('"a"', '"__proto__"'))))).toBe(
      '{"__proto__":"[secret removed]"}',
    );
  });
});

describe("refuseSecrets", () => {
  it("names the subject, and never the secret", () => {
    const refuse = () => refuseSecrets(scrub, { a: secret }, "The input");
    expect(refuse).toThrow(ToolweaveError);
    expect(refuse).toThrow(/^The input holds a secret\./);
    expect(refuse).not.toThrow(secret);
    expect(() => refuseSecrets(scrub, { a: "b" }, "The input")).not.toThrow();
  });
});
