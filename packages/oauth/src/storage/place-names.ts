/** Names of all places of a limit. */
export function placeNames(name: string, max: number): string[] {
  return Array.from({ length: max }, (_, index) => `${name}#${index}`)
}
