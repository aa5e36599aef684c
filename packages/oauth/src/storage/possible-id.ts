const LONGEST_ID = 64

/**
 * Whether a client or token could have this id. What no database can hold is nobody's: Postgres would
 * fail on a NUL, the others would look for it.
 */
export function isPossibleId(id: string): boolean {
  return id !== '' && id.length <= LONGEST_ID && !id.includes('\0') && id.isWellFormed()
}
