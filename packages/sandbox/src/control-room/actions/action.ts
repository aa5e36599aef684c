import type { ControllableSandbox } from '../story/observed-sandbox.ts'

/** Result of a form that was submitted in the control room. */
export interface ControlActionResult {
  /** Message that the page shows to the person who submitted the form. */
  readonly message: string
  /** JSON response for programs that posted the form. */
  readonly data: object
}

/**
 * Handles a form of the control room. If it throws an error, the page shows the error's message.
 */
export type ControlAction = (
  form: URLSearchParams,
  controls: ControllableSandbox,
) => Promise<ControlActionResult> | ControlActionResult

/**
 * Reads a whole number from a form field. Returns `fallback` for an empty field.
 * @throws {RangeError} if the field holds anything else.
 */
export function readWholeNumber(form: URLSearchParams, name: string, fallback: number): number {
  const text = form.get(name)
  const number = text === null || text === '' ? fallback : Number(text)
  if (Number.isSafeInteger(number) && number >= 0) return number
  throw new RangeError(`${name}: must be a whole number from 0 up, not ${text}`)
}
