import type { HttpRequest } from '@tollgate/http'
import { type Awaitable, mapAwaitable } from '../awaitable.ts'
import type { ServerContext } from '../context.ts'
import { InvalidClient, InvalidRequest } from '../errors.ts'
import type { Form } from '../http/form.ts'
import type { Client } from '../storage/records.ts'
import { readCredentials } from './authentication/credentials.ts'
import { isProvenBy } from './authentication/secret-methods.ts'

/** RFC 6749 §2.3: by its secret or by a proof of some feature's kind. A public client only names itself. */
export function authenticateClient(
  request: HttpRequest,
  params: Form,
  context: ServerContext,
): Awaitable<Client> {
  if (params.has('client_assertion') || params.has('client_assertion_type')) {
    return authenticateByProof(request, params, context)
  }
  if (context.features.soleAuthenticator) {
    throw new InvalidClient('Clients prove themselves by a client_assertion here')
  }
  const { id, secret, method, basic } = readCredentials(request.header('authorization'), params)
  return mapAwaitable(context.clients.findNamed(id, context), (client) => {
    if (client && isProvenBy(client, method, secret)) return client
    throw new InvalidClient('Client authentication failed', { challenge: basic })
  })
}

/** RFC 7521 §4.2. Where nobody reads it, it is refused: whoever sends it relies on it. */
async function authenticateByProof(
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
  throw new InvalidClient('This server takes no client_assertion of this type')
}
