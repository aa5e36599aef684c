/** Gets the failures that no caller is told of, because they are ours. `console` is one. */
export interface Logger {
  /** For failures that no caller can be told of. */
  error(message: string, error?: unknown): void
  /** Worth knowing, and nobody was harmed. Where it is missing, this goes to `error`. */
  warn?(message: string): void
}
