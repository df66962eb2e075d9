import { describe, expect, it, vi } from "vitest";
import { boundPattern } from "../../src/core/pattern.js";

describe("a pattern is tried", () => {
  it.each([
    "",
    "plain",
    "^x-",
    "^[a-z_]+$",
    "^.*$",
    "^\\d{4}-\\d{2}-\\d{2}$",
    "^[^,]+,[^,]+$",
    "^\\p{L}\\p{M}*$",
    "^\\u{1F600}|^\\u0041|^\\x41|^\\cJ$",
    "^(a|b)*$",
    "^(?:foo|bar|[0-9])+$",
    '^"(?:[^"\\\\]|\\\\.)*"$',
    "^(?:[A-Za-z0-9+/]{4})*$",
    "^(?<area>\\d{3})(?:-\\d{4}){2,}$",
    "^((25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)\\.){3}(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)$",
    "^(?=.*\\d)(?=.*[a-z]).{8,}$",
    "^(?!-)(?:x{0}){3}\\bword\\B",
    "^(?:^a){2}",
    "^(?:ab){2}?$",
    "^(?:ab|a){1}$",
    "^(?:[a-z]+;)*x",
    "^(?:\\.?\\/)*$",
    `^${"(".repeat(50)}a${")".repeat(50)}$`,
    `^${"(a)".repeat(60)}$`,
    `^${"a".repeat(4_095)}`,
    "^\\w{0,9}\\w{0,9}\\w{0,9}$",
    "^(?:\\w{0,9}){3}$",
    "(?:a|bb){2,3}$",
    "a{256}$",
    "^a{0,255}b*$",
    "^a*|^b*$",
    "(?:^a)+$",
    "(?:^a)+?$",
    "^(?:a*b*){0}$",
    "^(?:\\b)*a*$",
    "^((?:a|bc))*$",
    "^(?:\\d\\d)*$",
    "^(?:a*[xy];)*$",
    "^(?:[^x]*;[yz]x)*$",
  ])("on a text of any length: %s", (pattern) => {
    expect(boundPattern(pattern)).toEqual({});
  });

  it.each<[string, number]>([
    ["\\s+$", 3_162],
    ["[^@]+@", 3_162],
    ["[^@]+@[^@]+", 3_162],
    ["^[^@]+@[^@]+\\.[^@]+$", 3_162],
    ["^[a-z0-9]+(?:-[a-z0-9]+)*$", 3_162],
    ["^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\\.)+[a-z]{2,}$", 3_162],
    ["^a{1,300}b{1,300}$", 3_162],
    ["^a*b*c*$", 215],
    ["^a*a[^;]*;", 3_162],
    ["^(?:(?!end)a*)?.*x", 2_236],
    ["^a*(?=.*z)b*[^;]*;", 215],
    ["^a?b*c*$", 2_236],
    ["^(?:(?=.*x)a)*$", 3_162],
    ["^a*|b", 2_236],
    ["^(?=[^;]*;)a*(?=[^;]*;)", 3_162],
    ["^(?:;(?=.*x)a*)*$", 3_162],
    ["^(?:(?=.*x.*y)a|b)$", 2_236],
    ["(?:a|bb){0,200}$", 3_162],
    ["(?:a|bb){200,300}$", 3_162],
    ["a{300}$", 3_162],
    ["^a*?b*$", 3_162],
    ["^(?:a*|b)c*$", 2_236],
    ["^(?:a|a)?b*c*$", 1_825],
    ["^(?:a|a){1}b*c*$", 2_236],
    ["^a?;b*c*$", 3_162],
    ["^(?:[ab]|;)*;x*$", 3_162],
    ["^(?:a;)*;x*$", 3_162],
    ["^(?:a*;b*)c*$", 3_162],
  ])("on a short text: %s", (pattern, maxLength) => {
    expect(boundPattern(pattern)).toEqual({ maxLength });
  });

  it.each<[string, string]>([
    ["[", "is no regular expression"],
    ["\\_", "is no regular expression"],
    ["a".repeat(5_000), "is longer than 4096 characters"],
    ["(a+)+$", "may match one text in several ways"],
    ["(a*)*$", "may match one text in several ways"],
    ["(a|a)*$", "may match one text in several ways"],
    ["(a|b|a)*$", "may match one text in several ways"],
    ["(a|a|[0-9])*$", "may match one text in several ways"],
    ["(a|5|[0-9])*$", "may match one text in several ways"],
    ["(a{2}|b)*$", "may match one text in several ways"],
    ["(a|bb*)*$", "may match one text in several ways"],
    ["(😀|[^a])*$", "may match one text in several ways"],
    ["(ä|\\p{L})*$", "may match one text in several ways"],
    ["(\\ba|b)*$", "may match one text in several ways"],
    ["(\\Ba|b)*$", "may match one text in several ways"],
    ["((?:a|a)b)*$", "may match one text in several ways"],
    ["((?:a?)?)*$", "may match one text in several ways"],
    ["((?:a?)?b)*$", "may match one text in several ways"],
    ["((?:\\w{0,2}){2}-)*$", "may match one text in several ways"],
    ["([ab];b*;)*$", "may match one text in several ways"],
    ["(a*$)*", "may match one text in several ways"],
    ["^(?:a*b*){2}$", "may match one text in several ways"],
    ["^(?:\\w{0,10}){3}$", "may match one text in several ways"],
    ["^(?:(?=.*x)(?:a|ab)){2}$", "may match one text in several ways"],
    ["(a|ab)*$", "may match one text in several ways"],
    ["(?:a|b?)+$", "may match one text in several ways"],
    ["(?:\\w|\\d)*$", "may match one text in several ways"],
    ["(?:|a)*$", "may match one text in several ways"],
    ["(?:a|(?:b|c))*$", "may match one text in several ways"],
    ["(?:.|x)*$", "may match one text in several ways"],
    ["(-[a-z-]+)*$", "may match one text in several ways"],
    ["(?:-[a-z]+[a-z]+)*$", "may match one text in several ways"],
    ["(?:a?){30}", "may match one text in several ways"],
    ["(?:(a|b?)c*){2,}", "may match one text in several ways"],
    [`${"a?".repeat(20)}${"a".repeat(20)}`, "has too many optional parts"],
    ["^\\w{0,10}\\w{0,9}\\w{0,9}$", "has too many optional parts"],
    ["(".repeat(51) + ")".repeat(51), "has groups at more than 50 levels"],
    ["(a)\\1", "refers back to a group"],
    ["(a)\\1(b)", "refers back to a group"],
    ["(?<n>a)\\k<n>", "refers back to a group"],
  ])("on none: %s", (pattern, reason) => {
    expect(boundPattern(pattern).refused).toContain(reason);
  });
});

it.each<[string, (count: number) => string]>([
  [
    "alternatives",
    (count) => `^(?:${Array.from({ length: count }, (_, n) => String.fromCharCode(0x4e00 + n)).join("|")})*$`,
  ],
  [
    "alternatives beside a class",
    (count) => `^(?:[a-z]|${Array.from({ length: count }, (_, n) => String.fromCharCode(0x4e00 + n)).join("|")})*$`,
  ],
  ["characters", (count) => `^(?:${"ab".repeat(count)})*$`],
  ["classes", (count) => `^(?:${"[a-z],".repeat(count)})*$`],
  ["groups", (count) => `^(?:${"(?:[a-z],)".repeat(count)})*$`],
])("twice as many %s take about twice the work", (_, pattern) => {
  const compare = vi.spyOn(RegExp.prototype, "test");
  const [some = 0, twice = 0] = [200, 400].map((count) => {
    compare.mockClear();
    boundPattern(pattern(count));
    return compare.mock.calls.length;
  });
  compare.mockRestore();
  expect(twice).toBeLessThan(2.1 * some + 10);
});
