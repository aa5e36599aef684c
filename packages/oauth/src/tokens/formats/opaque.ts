import { equalSecrets, hmac, type MacKey } from '../../crypto.ts'
import type { Keyring } from '../../keys/keyring.ts'
import { parseScope } from '../../scopes.ts'
import type { Token } from '../../storage/records.ts'
import { buildClaims } from './claims.ts'
import type { AccessTokenFormat } from './format.ts'

/** What a genuine opaque token says by itself; the rest stands in its row. */
interface Reference {
  readonly tokenId: string
  readonly generation: number
  readonly issuedAt: Date
  readonly expiresAt: Date
  /** Only for a token that was asked for with less than was granted, or is bound to a key. */
  readonly narrowed: Narrowed | null
}

interface Narrowed {
  readonly scopes: readonly string[]
  /** Null: all that were granted. */
  readonly audience: readonly string[] | null
  /** Of the key it is bound to: a later one of the same row may be bound to another. */
  readonly key: string | null
}

const PREFIX = 'tga_'

const SHAPE =
  /^tga_([0-9a-f-]{36})\.(\d{1,9})\.(\d{1,12})\.(\d{1,12})\.([\w-]{0,4000})\.([\w-]{43})$/

export interface OpaqueTokenOptions {
  readonly keyring: Pick<Keyring, 'macKeys'>
  readonly server: { readonly issuer: string; readonly audience: string }
  /** `aud` of what a row grants. */
  audienceOf(token: Token): string | readonly string[]
}

/**
 * `tga_<row>.<generation>.<issued>.<expires>.<fewer scopes and APIs, key>.<MAC>`: says nothing about anybody. Who it
 * is for and what it may do is read from its row, once in each process; the MAC keeps strangers from
 * causing such reads. A row outlives its token's generations, hence the times.
 */
export function opaqueFormat(options: OpaqueTokenOptions): AccessTokenFormat {
  const { issuer, audience } = options.server
  const keys = () => options.keyring.macKeys('opaque access tokens')
  // A JWT names its issuer; here the MAC vouches for it, should two servers share a secret and a store.
  const macOf = (key: MacKey, content: string) => hmac(key, `${content}\n${issuer}\n${audience}`)
  const isOurs = (content: string, given: string) =>
    keys().some(
      (key) =>
        equalSecrets(macOf(key, content), given) ||
        // Made by an older version, which left the issuer out.
        equalSecrets(hmac(key, content), given),
    )

  function parse(text: string): Reference | null {
    const [, tokenId, generation, issued, expires, narrowed, given] = SHAPE.exec(text) ?? []
    if (!tokenId || !given) return null
    const content = text.slice(PREFIX.length, -given.length - 1)
    if (!isOurs(content, given)) return null
    return {
      tokenId,
      generation: Number(generation),
      issuedAt: new Date(Number(issued) * 1000),
      expiresAt: new Date(Number(expires) * 1000),
      narrowed: narrowed ? parseNarrowed(narrowed) : null,
    }
  }

  return {
    recognizes: (text) => text.startsWith(PREFIX),
    encode({ iat, exp, jti, scope, aud, cnf }, token) {
      const [key] = keys()
      if (!key) throw new Error('There is no secret to make access tokens with')
      const hasAllScopes = scope === token.scopes.join(' ')
      // A row without details has one audience, which cannot be fewer.
      const hasAll = token.details === null || String(aud) === String(options.audienceOf(token))
      const narrowed =
        hasAllScopes && hasAll && !cnf ? '' : formatNarrowed(scope, hasAll ? null : aud, cnf?.jkt)
      const content = `${jti}.${iat}.${exp}.${narrowed}`
      return `${PREFIX}${content}.${macOf(key, content)}`
    },
    async decode(text, { findToken }) {
      const reference = parse(text)
      const token = reference && (await findToken(reference.tokenId))
      if (!token || token.revokedAt) return null
      const { id, clientId, userId } = token
      const { generation, issuedAt, expiresAt, narrowed } = reference
      const key = narrowed?.key ?? null
      const details = key === null ? token.details : { ...token.details, dpopKey: key }
      const then = { id, clientId, userId, generation, issuedAt, expiresAt, details }
      const aud = narrowed?.audience ?? options.audienceOf(token)
      return buildClaims(then, narrowed?.scopes ?? token.scopes, { issuer, audience: aud })
    },
  }
}

/** The scopes on the first line, the APIs on the second, the key on the third; those at the end may be missing. */
function formatNarrowed(
  scope: string,
  audience: string | readonly string[] | null,
  key: string | undefined,
): string {
  const apis = audience === null ? '' : [audience].flat().join(' ')
  const lines = key === undefined ? (apis === '' ? [scope] : [scope, apis]) : [scope, apis, key]
  return Buffer.from(lines.join('\n')).toString('base64url')
}

function parseNarrowed(text: string): Narrowed {
  const [scope = '', apis, key = null] = Buffer.from(text, 'base64url').toString().split('\n')
  return { scopes: parseScope(scope), audience: apis ? apis.split(' ') : null, key }
}
