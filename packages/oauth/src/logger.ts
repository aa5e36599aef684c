/** Receives internal errors, which are never shown to callers. `console` is a Logger. */
export interface Logger {
  /** Logs an internal error that no caller sees. */
  error(message: string, error?: unknown): void
  /**
   * Logs a notable event that harmed no request. Without this method such messages go to `error`.
   */
  warn?(message: string): void
}
