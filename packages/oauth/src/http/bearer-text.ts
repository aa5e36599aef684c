const BEARER_TEXT = /^[\w.~+/=-]+$/

/** Whether the text can be sent as a bearer token in a header (RFC 6750 §2.1). */
export function isBearerText(text: string): boolean {
  return BEARER_TEXT.test(text)
}
