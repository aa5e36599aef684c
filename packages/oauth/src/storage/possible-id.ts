const MAX_ID_LENGTH = 64

/**
 * Whether a text can be the id of a client or token. `false` for text that a database cannot store,
 * such as a NUL character, on which Postgres fails.
 */
export function isPossibleId(id: string): boolean {
  return id !== '' && id.length <= MAX_ID_LENGTH && !id.includes('\0') && id.isWellFormed()
}
