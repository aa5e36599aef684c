import type { Clock, Database } from '@tollgate/database'

export type { Clock }

/** Receives warnings and internal errors, which are never shown to callers. */
export interface Logger {
  /** Reports a condition that an operator should know about. */
  warn(message: string, cause?: unknown): void
  /** Reports an internal error. */
  error(message: string, cause?: unknown): void
}

/** The database, clock and logger of a gate. */
export interface GateContext {
  readonly database: Database
  readonly clock: Clock
  readonly logger: Logger
}
