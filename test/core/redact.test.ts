import { describe, expect, it } from "vitest";
import { cutCredentials } from "../../src/core/redact.js";

describe("cutCredentials", () => {
  it.each([
    ["Authorization: Bearer eyJh.eyJz.s-_~+/=", "Authorization: Bearer [removed]"],
    ["Basic dXNlcjpwYXNz and more", "Basic [removed] and more"],
    ["bearer a, BASIC b; Bearer\tc", "bearer [removed], BASIC [removed]; Bearer\t[removed]"],
    ['{"authorization":"Bearer abc"}', '{"authorization":"Bearer [removed]"}'],
    ["?auth=Bearer%20abc%2F1&x=1", "?auth=Bearer%20[removed]"],
    ["Bearer Bearer abc", "Bearer [removed]"],
    ["Bearer Basic abc", "Basic [removed]"],
    ["Basic ada:lovelace", "Basic [removed]"],
    ["x-bearer: Bearer\n  abc", "x-bearer: Bearer\n  [removed]"],
    // No credential follows
    ["Bearer", "Bearer"],
    ["Bearer ", "Bearer "],
    ['WWW-Authenticate: Bearer "x"', 'WWW-Authenticate: Bearer "x"'],
    ["Basically fine, forbearing", "Basically fine, forbearing"],
    ["", ""],
  ])("%j: %j", (text, cut) => {
    expect(cutCredentials(text)).toBe(cut);
    expect(cutCredentials(cut)).toBe(cut);
  });
});
