import type { HttpRequest } from '@tollgate/http'
import { type Awaitable, mapAwaitable } from '../awaitable.ts'
import type { ServerContext } from '../context.ts'
import { InvalidClient, InvalidRequest } from '../errors.ts'
import { type Form, UNREADABLE_CHARACTERS } from '../http/form.ts'
import type { Client } from '../storage/records.ts'
import { mayAuthenticateBy, type SecretMethod } from './authentication-methods.ts'

/**
 * Authenticates the client of a request by its secret, or by a method that a feature adds, such as
 * a signed assertion (RFC 6749 §2.3). Public clients have no credentials and are only identified by
 * their `client_id`.
 * @throws InvalidClient if authentication fails
 */
export function authenticateClient(
  request: HttpRequest,
  params: Form,
  context: ServerContext,
): Awaitable<Client> {
  if (params.has('client_assertion') || params.has('client_assertion_type')) {
    return authenticateByAssertion(request, params, context)
  }
  if (context.features.exclusiveAuthentication) {
    throw new InvalidClient('Clients must authenticate with a client_assertion at this server')
  }
  const { id, secret, method, basic } = readCredentials(request.header('authorization'), params)
  return mapAwaitable(context.clients.findNamed(id, context), (client) => {
    if (client && mayAuthenticateBy(client, { method, secret }, context.clock)) return client
    throw new InvalidClient('Client authentication failed', { challenge: basic })
  })
}

/**
 * Authenticates by `client_assertion` (RFC 7521 §4.2). Rejects assertions that no feature
 * understands, instead of ignoring them.
 */
async function authenticateByAssertion(
  request: HttpRequest,
  params: Form,
  context: ServerContext,
): Promise<Client> {
  if (request.header('authorization') !== null || params.has('client_secret')) {
    throw new InvalidRequest('The client authenticates in more than one way; use one')
  }
  for (const { authenticate } of context.features.authenticators) {
    const proving = authenticate?.(params, context)
    if (proving) return (await proving).client
  }
  throw new InvalidClient('This server does not support this type of client_assertion')
}

interface ClientCredentials {
  readonly id: string
  readonly secret: string | null
  readonly method: SecretMethod
  /**
   * Whether the client used the Authorization header. If so, the response to a failed
   * authentication contains a challenge.
   */
  readonly basic: boolean
}

/**
 * Reads the client credentials from HTTP Basic or from the body (RFC 6749 §2.3.1).
 * @throws InvalidRequest if the request contains both
 */
function readCredentials(authorization: string | null, params: Form): ClientCredentials {
  const bodyId = params.get('client_id') ?? null
  const bodySecret = params.get('client_secret') ?? null
  if (authorization === null) {
    if (bodyId === null) throw new InvalidClient('No client_id was sent')
    const method = bodySecret === null ? 'none' : 'client_secret_post'
    return { id: bodyId, secret: bodySecret, method, basic: false }
  }
  if (bodySecret !== null) {
    throw new InvalidRequest('The client authenticates in the header and in the body; use one')
  }
  const basic = parseBasic(authorization)
  if (!basic || (bodyId !== null && bodyId !== basic.id)) {
    throw new InvalidClient('Client authentication failed', { challenge: true })
  }
  return basic
}

/**
 * Parses an HTTP Basic header. Id and secret are form-encoded before they are joined (RFC 6749
 * §2.3.1 and appendix B).
 */
function parseBasic(header: string): ClientCredentials | null {
  const [, encoded] = /^basic +([a-z0-9+/]+=*)$/i.exec(header) ?? []
  if (!encoded || encoded.length > 4096) return null
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const split = text.indexOf(':')
  if (split < 1) return null
  try {
    const id = decodeFormValue(text.slice(0, split))
    const secret = decodeFormValue(text.slice(split + 1))
    // A public client may identify itself by Basic with an empty secret.
    return secret === ''
      ? { id, secret: null, method: 'none', basic: true }
      : { id, secret, method: 'client_secret_basic', basic: true }
  } catch {
    return null
  }
}

function decodeFormValue(text: string): string {
  const encoded = text.includes('%') || text.includes('+')
  const value = encoded ? decodeURIComponent(text.replaceAll('+', ' ')) : text
  if (UNREADABLE_CHARACTERS.test(value))
    throw new InvalidRequest('The credentials contain a character that is not allowed')
  return value
}
