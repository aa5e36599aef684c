import { InvalidRequestObject } from '../../errors.ts'
import { type Form, UNREADABLE } from '../../http/form.ts'
import type { RequestClaims } from './request-object.ts'

/** About the object, not about the request. */
const OF_THE_OBJECT: readonly string[] = ['iss', 'aud', 'exp', 'nbf', 'iat', 'jti', 'sub']
const MOST_PARAMETERS = 64

/** The claims of a request object as the parameters they stand for (RFC 9101 §4). */
export function paramsOfObject(claims: RequestClaims, clientId: string): Form {
  if (claims.client_id !== clientId) {
    throw new InvalidRequestObject('client_id in the request object is not the one beside it')
  }
  // It would be good as the client's proof of itself as well (RFC 9101 §10.8).
  if (claims.sub === clientId) throw new InvalidRequestObject('A request object has no such sub')
  if ('request' in claims || 'request_uri' in claims) {
    throw new InvalidRequestObject('A request object holds no request or request_uri')
  }
  const entries = Object.entries(claims).filter(([name]) => !OF_THE_OBJECT.includes(name))
  if (entries.length > MOST_PARAMETERS) {
    throw new InvalidRequestObject(`A request object holds at most ${MOST_PARAMETERS} parameters`)
  }
  return new Map(
    entries
      .map(([name, value]): [string, string] => [name, textOf(name, value)])
      .filter(([, text]) => text !== ''),
  )
}

/** Numbers such as `max_age` and objects such as `claims` stand there as JSON, several resources as a list. */
function textOf(name: string, value: unknown): string {
  if (value === null) return ''
  if (name === 'resource' && Array.isArray(value)) return value.map(String).join(' ')
  if (typeof value !== 'string') return JSON.stringify(value)
  if (UNREADABLE.test(value) || !value.isWellFormed()) {
    throw new InvalidRequestObject('A parameter holds a character that cannot be accepted')
  }
  return value
}
