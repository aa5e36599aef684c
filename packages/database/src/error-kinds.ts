import { builtInDialects } from './built-in-dialects.ts'
import { type ErrorKindOf, hasErrorKind, UNAVAILABLE_ERROR_KINDS } from './errors.ts'

/**
 * Returns the kind of an error from a connection that this package did not open, such as one of the
 * application's own pool.
 */
export const classifyBuiltInError: ErrorKindOf = (error, code) => {
  for (const { errorKind } of builtInDialects) {
    const kind = errorKind(error, code)
    if (kind) return kind
  }
  return undefined
}

/**
 * Whether the database could not be reached, or gave up, through no fault of the request: it is
 * down, starting, failing over, out of connections or disk, or locked by others for too long.
 * Respond with status 503, so that the caller tries again, and not with an error about the request
 * itself.
 * @example
 * ```ts
 * try {
 *   await findUser({ id })
 * } catch (error) {
 *   if (isUnavailable(error)) return new Response('Try again soon', { status: 503 })
 *   throw error
 * }
 * ```
 */
export function isUnavailable(error: unknown): boolean {
  return hasErrorKind(error, UNAVAILABLE_ERROR_KINDS, classifyBuiltInError)
}

/** Whether the error is a unique violation: a row with the same unique key exists. */
export function isUniqueViolation(error: unknown): boolean {
  return hasErrorKind(error, ['duplicate'], classifyBuiltInError)
}

/**
 * Whether the error means that a value cannot exist in its column, such as `1abc` in a number
 * column or a NUL in a text column, so that no row contains it. Postgres reports this. MySQL
 * reports it only for characters that the column's character set lacks. In all other cases, the
 * query finds no row, or a row whose value is only similar.
 */
export function isImpossibleValue(error: unknown): boolean {
  return hasErrorKind(error, ['impossible'], classifyBuiltInError)
}
