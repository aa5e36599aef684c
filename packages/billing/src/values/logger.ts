/** Where failures nobody can be told of go. `console` is one. */
export interface Logger {
  error(message: string, error?: unknown): void
  /** For what does no harm yet. Default: `error`. */
  warn?(message: string, error?: unknown): void
}
