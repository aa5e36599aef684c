/**
 * Returns the names of all places of a limit on failed checks, `max` in number. A running or failed
 * check occupies one place.
 */
export function limitPlaceNames(name: string, max: number): string[] {
  return Array.from({ length: max }, (_, index) => `${name}#${index}`)
}
