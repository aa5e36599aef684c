import { InvalidClient, InvalidRequest } from '../../errors.ts'
import { type Form, UNREADABLE } from '../../http/form.ts'
import type { SecretMethod } from './secret-methods.ts'

export interface ClientCredentials {
  readonly id: string
  readonly secret: string | null
  readonly method: SecretMethod
  /** By the Authorization header, so that a refusal carries a challenge. */
  readonly basic: boolean
}

/** RFC 6749 §2.3.1: by Basic or in the body, one way per request. */
export function readCredentials(authorization: string | null, params: Form): ClientCredentials {
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
    // A public client may name itself there as well.
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
  if (UNREADABLE.test(value)) throw new InvalidRequest('The credentials are not text')
  return value
}
