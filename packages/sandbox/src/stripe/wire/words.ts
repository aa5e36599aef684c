/** Splits a text at its spaces and line breaks, to write lists of names without quotes. */
export function splitWords(text: string): string[] {
  return text.trim().split(/\s+/)
}
