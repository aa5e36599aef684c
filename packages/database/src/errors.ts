/** A package is not installed that only some applications need, such as the driver of a database. */
export class MissingPackage extends Error {
  override readonly name = 'MissingPackage'
  /** Tell errors apart by it: that works across bundles and copies of this package. */
  readonly code = 'TOLLGATE_MISSING_PACKAGE'
  /** The package to install. */
  readonly package: string

  /** `what` needs the package: it begins the message. */
  constructor(name: string, what: string, options?: ErrorOptions) {
    super(`${what} needs the package "${name}": run npm install ${name}`, options)
    this.package = name
  }
}

/** The database has been migrated by a newer build than this one. */
export class SchemaTooNew extends Error {
  override readonly name = 'SchemaTooNew'
  /** Tell errors apart by it: that works across bundles and copies of this package. */
  readonly code = 'TOLLGATE_SCHEMA_TOO_NEW'
}

/** The database lacks migrations that this build needs, and was told not to run. */
export class SchemaTooOld extends Error {
  override readonly name = 'SchemaTooOld'
  /** Tell errors apart by it: that works across bundles and copies of this package. */
  readonly code = 'TOLLGATE_SCHEMA_TOO_OLD'
}

/** A migration cannot be done beside running processes, and nobody has said that none runs. */
export class NeedsOffline extends Error {
  override readonly name = 'NeedsOffline'
  /** Tell errors apart by it: that works across bundles and copies of this package. */
  readonly code = 'TOLLGATE_NEEDS_OFFLINE'
}

/** Gave up waiting for a connection or a lock; its kind is `slow`. */
export class WaitedTooLong extends Error {
  override readonly name = 'WaitedTooLong'
  /** Tell errors apart by it: that works across bundles and copies of this package. */
  readonly code = 'TOLLGATE_WAITED_TOO_LONG'
}

/**
 * The database was asked and has not said that it is done: the work may have happened or not, or may
 * still be undone by a failover. Its kind is `broken`.
 */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
  /** Tell errors apart by it: that works across bundles and copies of this package. */
  readonly code = 'TOLLGATE_NO_ANSWER'
}

/** This process must not issue, purge or take work now, because of the time; its kind is `slow`. */
export class ClockNotTrusted extends Error {
  override readonly name = 'ClockNotTrusted'
  /** Tell errors apart by it: that works across bundles and copies of this package. */
  readonly code = 'TOLLGATE_CLOCK_NOT_TRUSTED'
}

/**
 * The server that answered is not the primary: it is in recovery, read-only, or a replica. What it says may be out of
 * date, so nothing may be decided by it. Its kind is `broken`.
 */
export class NotPrimary extends Error {
  override readonly name = 'NotPrimary'
  /** Tell errors apart by it: that works across bundles and copies of this package. */
  readonly code = 'TOLLGATE_NOT_PRIMARY'

  /** `reason` completes the sentence "The database server …". */
  constructor(reason: string) {
    super(`The database server ${reason}; give the address of the primary`)
  }
}

/**
 * What a failure means for whoever asked.
 *
 * - `broken`: the connection is lost, was refused, or leads to a server that cannot do its work
 * - `slow`: the connection is well, but someone else took too long
 * - `undone`: the work was rolled back and doing it again may succeed, as after a deadlock
 * - `duplicate`: a row with the same unique key is already there
 * - `impossible`: a value cannot be one of its column, such as `1abc` of a number
 */
export type ErrorKind = 'broken' | 'slow' | 'undone' | 'duplicate' | 'impossible'

/** The kind of one error by itself, without its causes; undefined for one that says nothing. */
export type ErrorKindOf = (error: Error, code: string | undefined) => ErrorKind | undefined

/** The kinds that call for "try again soon". What may be done again was, before a caller could see it. */
export const UNAVAILABLE: readonly ErrorKind[] = ['broken', 'slow', 'undone']

/** Ours, and those of the network, which no dialect needs to list. */
const known: Readonly<Record<string, ErrorKind>> = {
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

/** Where the kind of an error is written down; the same in every copy of this package. */
const KIND = Symbol.for('tollgate.database.errorKind')

/** Writes down what the dialect makes of an error and its causes, for those who do not know the dialect. */
export function markKinds(error: unknown, kindOf: ErrorKindOf): void {
  someCause(error, (cause) => {
    const kind = KIND in cause ? undefined : kindOf(cause, codeOf(cause))
    if (kind) Reflect.defineProperty(cause, KIND, { value: kind })
    return false
  })
}

/** Whether an error or one of its causes is of one of these kinds. `kindOf` knows those without a mark. */
export function hasKind(
  error: unknown,
  kinds: readonly ErrorKind[],
  kindOf?: ErrorKindOf,
): boolean {
  return someCause(error, (cause) => {
    const code = codeOf(cause)
    const kind =
      (cause as { [KIND]?: ErrorKind })[KIND] ??
      (code === undefined ? undefined : known[code]) ??
      kindOf?.(cause, code)
    return kind !== undefined && kinds.includes(kind)
  })
}

/** Finds the error `NotPrimary` in an error and its causes. Returns `null` if the failure is another one. */
export function findNotPrimary(error: unknown): NotPrimary | null {
  let found: NotPrimary | null = null
  someCause(error, (cause) => {
    if (codeOf(cause) === 'TOLLGATE_NOT_PRIMARY') found = cause as NotPrimary
    return found !== null
  })
  return found
}

function codeOf(error: Error): string | undefined {
  const { code } = error as { code?: unknown }
  return typeof code === 'string' && code !== '' ? code : undefined
}

function someCause(error: unknown, test: (cause: Error) => boolean): boolean {
  for (let depth = 0; error instanceof Error && depth < 8; depth++) {
    if (test(error)) return true
    if (error instanceof AggregateError && error.errors.some((e) => someCause(e, test))) return true
    error = error.cause
  }
  return false
}
