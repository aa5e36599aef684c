const BEARER_TEXT = /^[\w.~+/=-]+$/

/** RFC 6750 §2.1: whether a header can carry it as a bearer token. */
export function isBearerText(text: string): boolean {
  return BEARER_TEXT.test(text)
}
