/**
 * Receives errors of background work, such as webhook handling, which no caller sees. `console`
 * implements it.
 */
export interface Logger {
  /** Logs a failure. */
  error(message: string, error?: unknown): void
  /** Logs a problem that does no immediate harm. @default `error` */
  warn?(message: string, error?: unknown): void
}
