/** A preview is good for so long, in milliseconds; the moment it was made for decides the cents. */
const PREVIEW_LASTS = 15 * 60_000

/**
 * The moment a preview was made for, as the form sends it back. One from long ago or from the future
 * would buy the unused days again, so that it is refused.
 */
export function parseProrationDate(value: string | null, now: Date): Date | null {
  if (value === null || !/^\d{1,15}$/.test(value)) return null
  const at = Number(value)
  const age = now.getTime() - at
  return age >= 0 && age <= PREVIEW_LASTS ? new Date(at) : null
}
