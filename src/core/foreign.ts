/** What `read` gives; nothing where foreign code (a getter, a proxy) throws in it. */
export function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** A property of a foreign value, inherited ones included; nothing where there is none, or reading it throws. */
export function property(value: unknown, key: string | number): unknown {
  return typeof value === "object" && value !== null ? attempt(() => Reflect.get(value, key)) : undefined;
}
