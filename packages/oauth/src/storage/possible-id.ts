const MAX_ID_LENGTH = 64

/**
 * Whether a client or token could have this id. Rejects text that a database cannot store: Postgres
 * fails on a NUL character, other databases would search for it.
 */
export function isPossibleId(id: string): boolean {
  return id !== '' && id.length <= MAX_ID_LENGTH && !id.includes('\0') && id.isWellFormed()
}
