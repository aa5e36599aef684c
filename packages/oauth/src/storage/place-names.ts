/**
 * Returns the names of the `max` places of a limit on failed checks. A running or failed check
 * occupies one place.
 */
export function buildLimitPlaceNames(name: string, max: number): string[] {
  return Array.from({ length: max }, (_, index) => `${name}#${index}`)
}
