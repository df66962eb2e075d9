// Each part starts with what the one before it can't hold, so a text is read once, from left to right.
const credentials = /((?:bearer|basic)(?:\s|%20)+)+[^\s"'`,;<>()[\]{}\\]+/gi;

/**
 * Cuts what stands behind `Bearer` and `Basic` (RFC 6750, RFC 7617) out of a text that people will read. It cuts rather
 * too much than too little: "Basic plan" loses its second word too. Cutting twice changes nothing.
 */
export function cutCredentials(text: string): string {
  return text.replace(credentials, "$1[removed]");
}
