import type { HttpRequest } from '@tollgate/http'
import type { ServerContext } from '../context.ts'
import { equalSecrets, sha256 } from '../crypto.ts'
import { InvalidClient, InvalidRequest } from '../errors.ts'
import { type Form, UNREADABLE } from '../http/form.ts'
import type { Client } from '../storage/records.ts'

interface ClientCredentials {
  readonly id: string
  readonly secret: string | null
  /** By the Authorization header, so that a refusal carries a challenge. */
  readonly basic: boolean
}

/** RFC 6749 §2.3.1: by Basic or in the body, one way per request. A public client only names itself. */
export async function authenticateClient(
  request: HttpRequest,
  params: Form,
  context: ServerContext,
): Promise<Client> {
  const credentials = readCredentials(request.header('authorization'), params)
  const client = await context.clients.find(credentials.id)
  if (client && hasSecret(client, credentials.secret)) return client
  throw new InvalidClient('Client authentication failed', { challenge: credentials.basic })
}

/** A public client has no secret, so one sent for it is as wrong as none for the others. */
function hasSecret({ confidential, secretHash }: Client, secret: string | null): boolean {
  if (!confidential) return secret === null
  return secret !== null && secretHash !== null && equalSecrets(sha256(secret), secretHash)
}

function readCredentials(authorization: string | null, params: Form): ClientCredentials {
  const bodyId = params.get('client_id') ?? null
  const bodySecret = params.get('client_secret') ?? null
  if (authorization === null) {
    if (bodyId === null) throw new InvalidClient('No client_id was sent')
    return { id: bodyId, secret: bodySecret, basic: false }
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

/** RFC 6749 §2.3.1 and appendix B: each half is form-encoded before it is joined and encoded. */
function parseBasic(header: string): ClientCredentials | null {
  const [, encoded] = /^basic +([a-z0-9+/]+=*)$/i.exec(header) ?? []
  if (!encoded || encoded.length > 4096) return null
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const split = text.indexOf(':')
  if (split < 1) return null
  try {
    const id = decodeFormValue(text.slice(0, split))
    const secret = decodeFormValue(text.slice(split + 1))
    return { id, secret: secret === '' ? null : secret, basic: true }
  } catch {
    return null
  }
}

function decodeFormValue(text: string): string {
  const encoded = text.includes('%') || text.includes('+')
  const value = encoded ? decodeURIComponent(text.replaceAll('+', ' ')) : text
  if (UNREADABLE.test(value)) throw new InvalidRequest('The credentials are not text')
  return value
}
