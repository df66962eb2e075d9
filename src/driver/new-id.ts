/** A new UUID. */
export function newId(): string {
  // Node puts its UUIDs together of parts, which V8 goes on keeping apart: 450 bytes for as long as a run is kept.
  // What normalizing gives is the same text in one piece.
  return crypto.randomUUID().normalize();
}
