import type { Client } from '@tollgate/oauth'

/** The origin of a client that was not registered by a user or an operator. */
export interface ClientOrigin {
  readonly by: 'registration' | 'document'
  /**
   * Host of its metadata document, else of its first redirect URI; for an app the URI scheme.
   * `null` if it has neither.
   */
  readonly host: string | null
  readonly verified: boolean
}

/** Describes the origin of a client that registered itself. `null` for any other client. */
export function describeOrigin({ settings, redirectUris }: Client): ClientOrigin | null {
  const { self_registered: registration } = settings
  if (!registration) return null
  const { by, document, verified = false } = registration
  return { by, host: findHostOrScheme(document ?? redirectUris[0]), verified }
}

/** Host of a URL, or the scheme of an app's URI. `null` if there is none. */
export function findHostOrScheme(address: string | undefined): string | null {
  if (address === undefined || !URL.canParse(address)) return null
  const { host, protocol } = new URL(address)
  return host || protocol
}

export function describeSelfRegistered({ by, host, verified }: ClientOrigin): string {
  const how = by === 'document' ? 'described by a metadata document' : 'registered itself'
  const where = host === null ? '' : `, ${host}`
  return `(${how}${where}, ${formatVerificationLabel(verified)})`
}

export function formatVerificationLabel(verified: boolean): string {
  return verified ? 'verified' : 'unverified'
}
