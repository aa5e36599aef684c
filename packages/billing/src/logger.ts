/** Where failures nobody can be told of go. `console` is one. */
export interface Logger {
  error(message: string, error?: unknown): void
}
