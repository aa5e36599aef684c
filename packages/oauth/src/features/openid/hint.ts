import type { ServerContext } from '../../context.ts'
import { verifyData } from '../../crypto.ts'

/** The contents of a verified ID token that a client sends as `id_token_hint`. */
export interface IdTokenHint {
  readonly sub: string
  readonly aud: string
  readonly sid: string | null
  /** All claims of the token. */
  readonly claims: Readonly<Record<string, unknown>>
}

/**
 * Verifies an ID token of this server that a client sends as `id_token_hint`. Returns `null` for
 * any other text. Accepts expired ID tokens, because a hint only identifies the person.
 */
export function readIdTokenHint(text: string, context: ServerContext): IdTokenHint | null {
  const [header = '', payload = '', signature = '', ...rest] = text.split('.')
  const key = context.keys.all().find((each) => each.header('JWT') === header)
  if (!key || rest.length > 0) return null
  const bytes = Buffer.from(signature, 'base64url')
  if (!verifyData(key.algorithm, key.publicKey, `${header}.${payload}`, bytes)) return null
  const claims: Record<string, unknown> = JSON.parse(Buffer.from(payload, 'base64url').toString())
  const { iss, sub, aud, sid, client_id } = claims
  // An access token may have the same `typ`, but only access tokens have a `client_id`.
  if (iss !== context.issuer || client_id !== undefined) return null
  if (typeof sub !== 'string' || typeof aud !== 'string') return null
  return { sub, aud, sid: typeof sid === 'string' ? sid : null, claims }
}
