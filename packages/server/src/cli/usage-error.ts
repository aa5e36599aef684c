/**
 * An error the person at the terminal can fix. It is printed without a stack trace, and the exit
 * code is 2.
 */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  /** Additional members of the JSON error that `--json` prints. */
  readonly details: Readonly<Record<string, unknown>>

  constructor(message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message)
    this.details = details
  }
}
