import type { GrantType } from '@tollgate/oauth'
import { UsageError } from './usage-error.ts'

/** Beginning of the grant types that are URNs. */
export const GRANT_TYPE_URN_PREFIX = 'urn:ietf:params:oauth:grant-type:'

/** The output of the operations on clients. */
export interface ManagedClient {
  readonly id: string
  readonly name: string
  readonly redirect_uris: readonly string[]
  readonly grants: readonly string[]
  readonly scopes: readonly string[] | null
  readonly confidential: boolean
  readonly first_party: boolean
  readonly resource_server: boolean
  readonly settings: Readonly<Record<string, unknown>>
  readonly user_id: string | null
  readonly registered_by: 'operator' | 'user' | 'registration' | 'document'
  readonly verified: boolean
  readonly previous_secret_until: string | null
  readonly created_at: string
  readonly updated_at: string
  readonly revoked_at: string | null
}

/** A client with its new secret, which is shown once. */
export type WithSecret = ManagedClient & { readonly secret: string | null }

/** Grant types that may be given by their last part, such as `--grant token-exchange`. */
const SHORT_NAMES = ['device_code', 'token-exchange', 'jwt-bearer']

/**
 * Expands the short name of a grant type to its URN; returns other names unchanged. The
 * authorization server checks whether the grant type exists.
 */
export function parseGrantType(name: string): GrantType {
  return SHORT_NAMES.includes(name) ? `${GRANT_TYPE_URN_PREFIX}${name}` : name
}

/** Splits `name=value` pairs. The authorization server validates names and values. */
export function readSettings(settingFlags: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    settingFlags.map((text) => {
      const [, name, value] = /^(\w+)=(.*)$/s.exec(text) ?? []
      if (name === undefined || value === undefined) {
        throw new UsageError(`--setting expects name=value, not ${text}`)
      }
      return [name, parseValue(value)]
    }),
  )
}

/** Parses JSON if the text is valid JSON, else returns the text: a URL needs no quotation marks. */
function parseValue(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
