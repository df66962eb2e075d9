import type { Faults, Menu, Option } from "./schedule.js";

/** What may happen to the run, or to the process that drives it, wherever it stands. */
const disturbances: readonly Option[] = [
  { take: "cancel", fault: "cancel" },
  { take: "taken over", fault: "takeover", bearing: "none" },
  { take: "taken over, unheard", fault: "takeover", bearing: "none" },
  { take: "leaves", fault: "leave", bearing: "none" },
];

const crashes = (take: string): Option => ({ take, fault: "crash", bearing: "none" });

/** The ways to go on, by what comes next; the plain one first. */
const menus = {
  record: [
    { take: "stored" },
    crashes("dies before"),
    crashes("dies after"),
    { take: "out of reach, not stored", fault: "outage", bearing: "none" },
    { take: "out of reach, stored", fault: "outage", bearing: "none" },
    { take: "cancelled before", fault: "cancel" },
    ...disturbances,
  ],
  write: [
    { take: "returns" },
    { take: "fails", fault: "fail" },
    { take: "fails for good", fault: "fail", bearing: "lasting" },
    { take: "refused", fault: "fail" },
    { take: "reply lost", fault: "doubt" },
    { take: "request lost", fault: "doubt" },
    crashes("dies, made"),
    crashes("dies, not made"),
    ...disturbances,
  ],
  read: [
    { take: "returns" },
    { take: "fails", fault: "fail" },
    { take: "fails for good", fault: "fail", bearing: "lasting" },
    { take: "refused", fault: "fail" },
    crashes("dies"),
    ...disturbances,
  ],
  abortedWrite: [
    { take: "aborted, not made" },
    { take: "aborted, made", fault: "doubt" },
    { take: "returns", fault: "doubt" },
    { take: "hangs, made", fault: "doubt" },
    { take: "hangs, not made", fault: "doubt" },
    crashes("dies, made"),
    crashes("dies, not made"),
  ],
  orphan: [{ take: "lost" }, { take: "arrives" }],
  time: [{ take: "passes" }, crashes("dies"), ...disturbances],
} satisfies Record<string, Menu>;

/** What may happen while a person is asked. */
const whileAsked: readonly Option[] = [crashes("dies"), ...disturbances];

export type Menus = Readonly<Record<keyof typeof menus, Menu>> & { readonly faults: Faults };

/** The menus with what the bounds let happen. */
export function menusOf(faults: Faults): Menus {
  const { record, write, read, abortedWrite, orphan, time } = menus;
  const bounded = (menu: Menu) => offered(menu, faults);
  return {
    faults,
    record: bounded(record),
    write: bounded(write),
    read: bounded(read),
    abortedWrite: bounded(abortedWrite),
    orphan,
    time: bounded(time),
  };
}

/** The ways to go on with a question, by how it may be answered. */
export function questionMenu(answers: Menu, faults: Faults): Menu {
  return offered([...answers, ...whileAsked], faults);
}

/** A menu with what may come first instead. */
export function withOthers(menu: Menu, others: readonly string[], isAwaited: boolean, faults: Faults): Menu {
  const slow: Option[] = isAwaited && faults.slow > 0 ? [{ take: "time passes", fault: "slow" }] : [];
  const first: Option[] = faults.order > 0 ? others.map((take) => ({ take, fault: "order" })) : [];
  return slow.length + first.length === 0 ? menu : [...menu, ...slow, ...first];
}

/** The plain way always may be gone. */
function offered([plain, ...others]: Menu, faults: Faults): Menu {
  return [plain, ...others.filter(({ fault }) => fault === undefined || faults[fault] > 0)];
}
