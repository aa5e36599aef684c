import type { Client } from '@tollgate/oauth'

/** Where a client came from that nobody here has registered. */
export interface Origin {
  readonly by: 'registration' | 'document'
  /** Of its document, else where it sends people: a host, or the scheme of an app. Null: nowhere. */
  readonly host: string | null
  readonly verified: boolean
}

/** Null for a client that somebody here has made. */
export function describeOrigin({ settings, redirectUris }: Client): Origin | null {
  const { self_registered: registration } = settings
  if (!registration) return null
  const { by, document, verified = false } = registration
  return { by, host: hostOf(document ?? redirectUris[0]), verified }
}

/** Where it sends people: a host, or the scheme of an app. Null: nowhere. */
export function destinationOf({ redirectUris }: Client): string | null {
  return hostOf(redirectUris[0])
}

function hostOf(address: string | undefined): string | null {
  if (address === undefined || !URL.canParse(address)) return null
  const { host, protocol } = new URL(address)
  return host || protocol
}
