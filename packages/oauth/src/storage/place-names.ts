/** The places of a limit, each by its name. */
export function placeNames(name: string, most: number): string[] {
  return Array.from({ length: most }, (_, index) => `${name}#${index}`)
}
