/** Creates the class of the errors with this code. */
function defineError<Code extends `TOLLGATE_${string}`>(code: Code) {
  abstract class CodedError extends Error {
    /**
     * Stable error code. Compare it instead of using `instanceof`, which fails across bundles and
     * copies of this package.
     */
    readonly code = code

    constructor(message: string, options?: ErrorOptions) {
      super(message, options)
      this.name = new.target.name
    }
  }
  return CodedError
}

/** An optional package, such as a database driver, is not installed. */
export class MissingPackage extends defineError('TOLLGATE_MISSING_PACKAGE') {
  /** Name of the package to install. */
  readonly package: string

  /** `what` names the feature that needs the package. The message begins with it. */
  constructor(name: string, what: string, options?: ErrorOptions) {
    super(`${what} needs the package "${name}": run npm install ${name}`, options)
    this.package = name
  }
}

/** A newer version of this package has migrated the database. */
export class SchemaTooNew extends defineError('TOLLGATE_SCHEMA_TOO_NEW') {}

/**
 * The database lacks migrations that this process needs and must not run, or was created by a
 * version before the first release.
 */
export class SchemaTooOld extends defineError('TOLLGATE_SCHEMA_TOO_OLD') {}

/**
 * A migration cannot run while other processes use the database, and the caller has not confirmed
 * (`offline`) that none does.
 */
export class NeedsOffline extends defineError('TOLLGATE_NEEDS_OFFLINE') {}

/** Waiting for a connection or a lock took too long. The error's kind is `slow`. */
export class WaitedTooLong extends defineError('TOLLGATE_WAITED_TOO_LONG') {}

/**
 * The database did not respond to a statement: the work may or may not have been done, or a
 * failover may still undo it. The error's kind is `broken`.
 */
export class NoAnswer extends defineError('TOLLGATE_NO_ANSWER') {}

/**
 * This process must not issue tokens, delete expired rows or take work from queues now, because its
 * time is not trusted. The error's kind is `slow`.
 */
export class ClockNotTrusted extends defineError('TOLLGATE_CLOCK_NOT_TRUSTED') {}

/**
 * The server that responded is not the primary: it is in recovery, read-only, or a replica. Its
 * data may be outdated, so no decision may be based on it. The error's kind is `broken`.
 */
export class NotPrimary extends defineError('TOLLGATE_NOT_PRIMARY') {
  /** `reason` completes the sentence "The database server …". */
  constructor(reason: string) {
    super(`The database server ${reason}; use the address of the primary`)
  }
}

/**
 * Kind of a failure, which tells the caller how to react.
 *
 * - `broken`: the connection is lost, was refused, or leads to a server that cannot work
 * - `slow`: the connection works, but another transaction took too long
 * - `undone`: the work was rolled back and a retry may succeed, as after a deadlock
 * - `duplicate`: a row with the same unique key exists
 * - `impossible`: a value cannot exist in its column, such as `1abc` in a number
 */
export type ErrorKind = 'broken' | 'slow' | 'undone' | 'duplicate' | 'impossible'

/** Returns the kind of one error, regardless of its causes. `undefined` if unknown. */
export type ErrorKindOf = (error: Error, code: string | undefined) => ErrorKind | undefined

/**
 * Kinds of errors after which callers should try again soon. Work that can be retried safely was
 * already retried when a caller sees the error.
 */
export const UNAVAILABLE_ERROR_KINDS: readonly ErrorKind[] = ['broken', 'slow', 'undone']

/** Errors of this package and of the network, which no dialect has to list. */
const KIND_BY_CODE: Readonly<Record<string, ErrorKind>> = {
  TOLLGATE_WAITED_TOO_LONG: 'slow',
  TOLLGATE_NO_ANSWER: 'broken',
  TOLLGATE_CLOCK_NOT_TRUSTED: 'slow',
  TOLLGATE_NOT_PRIMARY: 'broken',
  ECONNREFUSED: 'broken',
  ECONNRESET: 'broken',
  ECONNABORTED: 'broken',
  EPIPE: 'broken',
  ETIMEDOUT: 'broken',
  EHOSTUNREACH: 'broken',
  EHOSTDOWN: 'broken',
  ENETUNREACH: 'broken',
  ENETDOWN: 'broken',
  ENOTFOUND: 'broken',
  EAI_AGAIN: 'broken',
}

/** Property that stores the kind of an error. Equal in all copies of this package. */
const KIND = Symbol.for('tollgate.database.errorKind')

/**
 * Stores on an error, and on each of its causes, the kind that `kindOf` returns, for code that does
 * not know the dialect.
 */
export function markErrorKinds(error: unknown, kindOf: ErrorKindOf): void {
  hasMatchingCause(error, (cause) => {
    const kind = KIND in cause ? undefined : kindOf(cause, codeOf(cause))
    if (kind) Reflect.defineProperty(cause, KIND, { value: kind })
    return false
  })
}

/**
 * Whether an error or one of its causes is of one of these kinds. `kindOf` maps errors without a
 * stored kind.
 */
export function hasErrorKind(
  error: unknown,
  kinds: readonly ErrorKind[],
  kindOf?: ErrorKindOf,
): boolean {
  return hasMatchingCause(error, (cause) => {
    const code = codeOf(cause)
    const kind =
      (cause as { [KIND]?: ErrorKind })[KIND] ??
      (code === undefined ? undefined : KIND_BY_CODE[code]) ??
      kindOf?.(cause, code)
    return kind !== undefined && kinds.includes(kind)
  })
}

/** Finds a `NotPrimary` among an error and its causes. Returns `null` if there is none. */
export function findNotPrimaryError(error: unknown): NotPrimary | null {
  let found: NotPrimary | null = null
  hasMatchingCause(error, (cause) => {
    if (codeOf(cause) === 'TOLLGATE_NOT_PRIMARY') found = cause as NotPrimary
    return found !== null
  })
  return found
}

function codeOf(error: Error): string | undefined {
  const { code } = error as { code?: unknown }
  return typeof code === 'string' && code !== '' ? code : undefined
}

function hasMatchingCause(error: unknown, test: (cause: Error) => boolean): boolean {
  for (let depth = 0; error instanceof Error && depth < 8; depth++) {
    if (test(error)) return true
    if (error instanceof AggregateError && error.errors.some((e) => hasMatchingCause(e, test)))
      return true
    error = error.cause
  }
  return false
}
