import { InvalidArgument } from '../errors.ts'

export function requireCount(count: unknown): number {
  if (typeof count === 'number' && Number.isSafeInteger(count) && count > 0) return count
  throw new InvalidArgument(`${String(count)} is not a quantity; expected a whole number above 0`)
}

export function requireText(what: string, value: unknown): string {
  if (typeof value === 'string' && value.trim() !== '' && value.length <= 255) return value
  throw new InvalidArgument(`The ${what} is missing, or is not text`)
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
