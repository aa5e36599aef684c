/** Where failures are reported that no caller waits for, such as those of a webhook. `console` is one. */
export interface Logger {
  /** For failures that no caller can be told of. */
  error(message: string, error?: unknown): void
  /** For what does no harm yet. Default: `error`. */
  warn?(message: string, error?: unknown): void
}
