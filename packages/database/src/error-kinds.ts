import { builtInDialects } from './built-in-dialects.ts'
import { type ErrorKindOf, hasKind, UNAVAILABLE } from './errors.ts'

/** For errors of connections that are not ours, such as those of the application's own pool. */
export const builtInKindOf: ErrorKindOf = (error, code) => {
  for (const { errorKind } of builtInDialects) {
    const kind = errorKind(error, code)
    if (kind) return kind
  }
  return undefined
}

/**
 * True when the database could not be asked, or gave up, through no fault of the request: it is
 * away, starting, failing over, out of connections or disk, or others are in the way for too long.
 * The right answer to the caller is "try again soon" (503), never a verdict about the request.
 */
export function isUnavailable(error: unknown): boolean {
  return hasKind(error, UNAVAILABLE, builtInKindOf)
}

/** True when a row with the same unique key is already there. */
export function isUniqueViolation(error: unknown): boolean {
  return hasKind(error, ['duplicate'], builtInKindOf)
}

/**
 * True when a value cannot be one of its column, such as `1abc` of a number or a NUL in text: then no
 * row has it. Postgres says so, and MySQL of letters that its column's alphabet lacks; otherwise they find
 * no row, or one that is only similar.
 */
export function isImpossibleValue(error: unknown): boolean {
  return hasKind(error, ['impossible'], builtInKindOf)
}
