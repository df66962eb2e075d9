/** Gives what `make` makes, which is made when it is first asked for: what may never be needed costs an import nothing. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
