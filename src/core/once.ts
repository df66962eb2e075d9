/** Gives what `make` makes, which is made when it is first asked for: a module that only may be needed costs nothing. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
