import type { HttpRequest } from '@tollgate/http'
import { InvalidRequest } from '../errors.ts'
import { MAX_BODY_BYTES, readMediaType } from './body.ts'

/** Parameters of a query or form, by name. */
export type Form = ReadonlyMap<string, string>

const MAX_PARAMETERS = 64
/**
 * RFC 8707 §2 and RFC 8693 §2.1 allow these to be repeated. URLs contain no spaces, so the values
 * are joined by a space.
 */
const REPEATABLE: ReadonlySet<string> = new Set(['resource', 'audience'])

/**
 * Parses `application/x-www-form-urlencoded` strictly (RFC 6749 §3.1, §3.2). Empty parameters are
 * left out.
 * @throws InvalidRequest for a repeated parameter, a broken escape, bytes that are not UTF-8, or a
 * NUL
 */
export function parseForm(text: string): Form {
  const form = new Map<string, string>()
  if (text === '') return form
  const pairs = text.split('&', MAX_PARAMETERS + 1)
  if (pairs.length > MAX_PARAMETERS) {
    throw new InvalidRequest(`More than ${MAX_PARAMETERS} parameters were sent`)
  }
  const empty: string[] = []
  for (const pair of pairs) {
    if (pair === '') continue
    const split = pair.indexOf('=')
    const name = decode(split < 0 ? pair : pair.slice(0, split))
    const value = split < 0 ? '' : decode(pair.slice(split + 1))
    const before = form.get(name)
    if (REPEATABLE.has(name)) {
      if (value !== '') form.set(name, before === undefined ? value : `${before} ${value}`)
      continue
    }
    if (before !== undefined || empty.includes(name)) {
      throw new InvalidRequest(`The parameter '${name}' was sent twice`)
    }
    if (value === '') empty.push(name)
    else form.set(name, value)
  }
  return form
}

export async function readForm(request: HttpRequest): Promise<Form> {
  if (readMediaType(request) !== 'application/x-www-form-urlencoded') {
    throw new InvalidRequest('The body must be application/x-www-form-urlencoded')
  }
  return parseForm(await request.text(MAX_BODY_BYTES))
}

/**
 * Returns the value of a parameter.
 * @throws InvalidRequest if it is missing
 */
export function requireParam(form: Form, name: string): string {
  const value = form.get(name)
  if (value === undefined) {
    throw new InvalidRequest(`The parameter '${name}' is missing`, { hint: `Send ${name}` })
  }
  return value
}

const PLAIN = /^[\w.~!*'()-]*$/
/**
 * Matches characters that are rejected in parameters: NUL, and U+FFFD, which replaces bytes that
 * are not UTF-8.
 */
export const UNREADABLE_CHARACTERS = /[\0\ufffd]/

function decode(text: string): string {
  if (PLAIN.test(text)) return text
  let decoded: string
  try {
    decoded = decodeURIComponent(text.replaceAll('+', ' '))
  } catch (cause) {
    throw new InvalidRequest(
      'A parameter contains an invalid percent-encoding or bytes that are not UTF-8',
      {
        cause,
      },
    )
  }
  if (UNREADABLE_CHARACTERS.test(decoded)) {
    throw new InvalidRequest('A parameter contains a character that is not allowed')
  }
  return decoded
}
