import { areSecretsEqual, computeHmac, type MacKey } from '../../crypto.ts'
import type { DerivedKeyring } from '../../keys/keyring.ts'
import { parseScope } from '../../scopes.ts'
import type { Token } from '../../storage/records.ts'
import { buildClaims } from './claims.ts'
import type { AccessTokenFormat } from './format.ts'

/** The content of a genuine opaque token. Everything else is in its row. */
interface Reference {
  readonly tokenId: string
  readonly generation: number
  readonly issuedAt: Date
  readonly expiresAt: Date
  /** Set only if the token has less than the full grant, or is bound to a key. */
  readonly narrowed: Narrowed | null
}

interface Narrowed {
  readonly scopes: readonly string[]
  /** `null` for the full audience of the grant. */
  readonly audience: readonly string[] | null
  /**
   * Thumbprint of the key this token is bound to. Later tokens of the same row may be bound to
   * another key.
   */
  readonly key: string | null
}

const PREFIX = 'tga_'

const SHAPE =
  /^tga_([0-9a-f-]{36})\.(\d{1,9})\.(\d{1,12})\.(\d{1,12})\.([\w-]{0,4000})\.([\w-]{43})$/

export interface OpaqueTokenOptions {
  readonly keyring: Pick<DerivedKeyring, 'macKeys'>
  readonly server: { readonly issuer: string; readonly audience: string }
  /** Returns the `aud` claim for all APIs of a grant. */
  audienceOf(token: Token): string | readonly string[]
}

/**
 * Writes access tokens as `tga_<row>.<generation>.<issued>.<expires>.<fewer scopes and APIs,
 * key>.<MAC>`, which reveals nothing about the user. Subject and scopes are read from the row, once
 * per process. The MAC prevents such reads for made-up tokens. The times are included because a row
 * outlives the access tokens of its earlier generations.
 */
export function createOpaqueFormat(options: OpaqueTokenOptions): AccessTokenFormat {
  const { issuer, audience } = options.server
  const keys = () => options.keyring.macKeys('opaque access tokens')
  // The MAC covers the issuer, because two servers may share a secret and a store.
  const macOf = (key: MacKey, content: string) =>
    computeHmac(key, `${content}\n${issuer}\n${audience}`)
  const isOurs = (content: string, given: string) =>
    keys().some((key) => areSecretsEqual(macOf(key, content), given))

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
      // A row without details has a single audience, which cannot be narrowed.
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

/** Joins scopes, APIs and key, one per line. Trailing lines may be absent. */
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
