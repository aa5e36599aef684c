import { InvalidArgument } from '../errors/errors.ts'

export function requireCount(count: unknown): number {
  if (typeof count === 'number' && Number.isSafeInteger(count) && count > 0) return count
  throw new InvalidArgument(`${String(count)} is not a quantity; expected a whole number above 0`)
}

/** Length of a text column. */
const MAX_TEXT_LENGTH = 255

/**
 * Returns the value if it is non-empty text of at most 255 characters. The error message does not
 * contain the value, because it may be a token.
 * @throws InvalidArgument for anything else.
 */
export function requireText(argumentName: string, value: unknown): string {
  if (typeof value === 'string' && value.trim() !== '' && value.length <= MAX_TEXT_LENGTH)
    return value
  const problem =
    typeof value !== 'string'
      ? `is ${value === null ? 'null' : typeof value}`
      : value.trim() === ''
        ? 'is empty'
        : `has ${value.length} characters`
  throw new InvalidArgument(
    `The ${argumentName} ${problem}; expected text of 1 to ${MAX_TEXT_LENGTH} characters`,
  )
}

/**
 * Returns the value if it is one of these words.
 * @throws InvalidArgument if it is not.
 */
export function requireOneOf<Word extends string>(
  what: string,
  word: Word,
  words: readonly Word[],
): Word {
  if (words.includes(word)) return word
  throw new InvalidArgument(`${what} is ${formatValue(word)}; expected ${words.join(', ')}`)
}

export function requireDate(what: string, at: unknown): Date {
  if (at instanceof Date && !Number.isNaN(at.getTime())) return at
  throw new InvalidArgument(`${what} is ${formatValue(at)}; expected a valid Date`)
}

const MAX_SHOWN_LENGTH = 60

/** Formats a value for a message, shortened to fit one line. */
export function formatValue(value: unknown): string {
  const isDate = value instanceof Date && !Number.isNaN(value.getTime())
  const text = isDate ? value.toISOString() : String(value)
  const short = text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text
  return typeof value === 'string' ? `'${short}'` : short
}

/** The longest path that providers store. */
const MAX_PATH_LENGTH = 500

/**
 * A path that begins with exactly one slash. It contains no character that a browser may treat as a
 * second slash, or may drop.
 */
const OWN_PATH = /^\/(?![/\\])[^\\\p{Cc}]*$/u

/**
 * Resolves a path of the application to a URL. `null` for anything that leads to another host:
 * customers who return from a provider's page must not be redirected elsewhere, whatever a form or
 * a link contains (open redirect).
 */
export function findApplicationUrl(publicUrl: string, path: unknown): string | null {
  if (typeof path !== 'string' || path.length > MAX_PATH_LENGTH || !OWN_PATH.test(path)) return null
  const url = URL.canParse(path, publicUrl) ? new URL(path, publicUrl) : null
  // Dot segments are resolved by now, so check the result for a second slash.
  const isOwn = url?.origin === new URL(publicUrl).origin && !url.pathname.startsWith('//')
  return isOwn ? url.href : null
}

/**
 * Removes properties that are `undefined`, because spreading them over defaults would replace the
 * defaults.
 */
export function omitUndefined<Options extends object>(options: Options): Options {
  const members = Object.entries(options).filter(([, value]) => value !== undefined)
  return Object.fromEntries(members) as Options
}
