import type { Controls } from '../story/watched.ts'

/** Result of an action. */
export interface ActionResult {
  /** Message for the person who submitted the form. */
  readonly message: string
  /** JSON response for programs. */
  readonly data: object
}

/** Handles a submitted form. Messages of errors it throws are shown to the sender. */
export type Action = (
  form: URLSearchParams,
  controls: Controls,
) => Promise<ActionResult> | ActionResult

/**
 * Reads a whole number from the form. An empty field gives `fallback`.
 * @throws {RangeError} if the field holds anything else.
 */
export function wholeNumber(form: URLSearchParams, name: string, fallback: number): number {
  const text = form.get(name)
  const number = text === null || text === '' ? fallback : Number(text)
  if (Number.isSafeInteger(number) && number >= 0) return number
  throw new RangeError(`${name}: must be a whole number from 0 up, not ${text}`)
}
