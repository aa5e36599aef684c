/** Creates the class of the errors with this code. */
function defineError<Code extends `GATE_${string}`>(code: Code) {
  abstract class CodedError extends Error {
    /**
     * Stable error code. Compare it instead of using `instanceof`, which fails across copies of
     * this package.
     */
    readonly code = code

    constructor(message: string, options?: ErrorOptions) {
      super(message, options)
      this.name = new.target.name
    }
  }
  return CodedError
}

/** An argument is invalid, such as a negative amount or an unknown meter. */
export class InvalidUse extends defineError('GATE_INVALID_USE') {}

/**
 * The database cannot be reached, and the meter's `onOutage` is `refuse`. Nothing was counted.
 * Adapters answer with 503.
 */
export class GateUnavailable extends defineError('GATE_UNAVAILABLE') {}
