import type { Controls } from '../story/watched.ts'

/** What a form has done. */
export interface Done {
  /** For the person who sent it. */
  readonly said: string
  /** For a program. */
  readonly data: object
}

/** What a form does. What it throws is shown to the sender. */
export type Action = (form: URLSearchParams, controls: Controls) => Promise<Done> | Done

/** A whole number from the form. */
export function wholeNumber(form: URLSearchParams, name: string, fallback: number): number {
  const text = form.get(name)
  const number = text === null || text === '' ? fallback : Number(text)
  if (Number.isSafeInteger(number) && number >= 0) return number
  throw new RangeError(`${name}: a whole number, please, and not ${text}`)
}
