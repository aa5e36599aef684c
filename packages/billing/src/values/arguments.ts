import { InvalidArgument } from '../errors.ts'

export function requireCount(count: unknown): number {
  if (typeof count === 'number' && Number.isSafeInteger(count) && count > 0) return count
  throw new InvalidArgument(`${String(count)} is not a quantity; expected a whole number above 0`)
}

/** What fits into a column. */
const LONGEST_TEXT = 255

/** Says nothing of what stands in it: it may be a token. */
export function requireText(what: string, value: unknown): string {
  if (typeof value === 'string' && value.trim() !== '' && value.length <= LONGEST_TEXT) return value
  const problem =
    typeof value !== 'string'
      ? `is ${value === null ? 'null' : typeof value}`
      : value.trim() === ''
        ? 'is empty'
        : `has ${value.length} characters`
  throw new InvalidArgument(
    `The ${what} ${problem}; expected text of 1 to ${LONGEST_TEXT} characters`,
  )
}

/** One of these words. */
export function requireWord<Word extends string>(
  what: string,
  word: Word,
  words: readonly Word[],
): Word {
  if (words.includes(word)) return word
  throw new InvalidArgument(`${what} is ${shown(word)}; expected ${words.join(', ')}`)
}

export function requireDate(what: string, at: unknown): Date {
  if (at instanceof Date && !Number.isNaN(at.getTime())) return at
  throw new InvalidArgument(`${what} is ${shown(at)}; expected a valid Date`)
}

const LONGEST_SHOWN = 60

/** A value for a message, short enough for one line. */
export function shown(value: unknown): string {
  const isDate = value instanceof Date && !Number.isNaN(value.getTime())
  const text = isDate ? value.toISOString() : String(value)
  const short = text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text
  return typeof value === 'string' ? `'${short}'` : short
}

/** What a provider keeps of a path. */
const LONGEST_PATH = 500

/** One slash, and nothing that some browser takes for a second one or drops. */
const OWN_PATH = /^\/(?![/\\])[^\\\p{Cc}]*$/u

/**
 * A path of the application's own as an address; null for anything that leads to another host. Customers who come back
 * from a provider's page are sent nowhere else, whatever a form or a link has asked for.
 */
export function findOwnAddress(publicUrl: string, path: unknown): string | null {
  if (typeof path !== 'string' || path.length > LONGEST_PATH || !OWN_PATH.test(path)) return null
  const url = URL.canParse(path, publicUrl) ? new URL(path, publicUrl) : null
  // Dots are gone by now, and what they stood before.
  const isOwn = url?.origin === new URL(publicUrl).origin && !url.pathname.startsWith('//')
  return isOwn ? url.href : null
}

/** Without what is undefined, which was not said: spread over defaults, it would take their place. */
export function said<Options extends object>(options: Options): Options {
  const members = Object.entries(options).filter(([, value]) => value !== undefined)
  return Object.fromEntries(members) as Options
}
