/** Writes a number with its noun, or also its verb: `1 entry is`, `2 entries are`. */
export function formatCount(number: number, one: string, other: string): string {
  return `${number} ${number === 1 ? one : other}`
}
