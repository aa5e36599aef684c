/** Splits a text into words, for lists of names. */
export function words(text: string): string[] {
  return text.trim().split(/\s+/)
}
