import { hmac } from '../../crypto.ts'
import { UnauthorizedClient } from '../../errors.ts'
import type { Client } from '../../storage/records.ts'
import type { OpenIdSettings } from './settings.ts'

/**
 * What a client knows a person by (OpenID Connect Core §8). Pairwise: two clients cannot compare notes,
 * unless they have the same sector.
 */
export function subjectFor(client: Client, userId: string, settings: OpenIdSettings): string {
  const kind = client.settings.subject_type ?? 'public'
  if (kind === 'public') return userId
  if (settings.pairwiseKey === null) {
    // Better no name than the one that everybody knows the person by.
    throw new UnauthorizedClient(
      'This client has pairwise subjects, which this server does not offer',
    )
  }
  return hmac(settings.pairwiseKey, JSON.stringify([sectorOf(client), userId]))
}

/** What a client gets is sent to an address of its host, or nowhere. */
const BY_REDIRECT: readonly string[] = ['authorization_code', 'refresh_token']

/**
 * The host they were registered for; a client with several hosts names the sector itself. An app, or a program on
 * somebody's machine, has no host that no other has. Nor has a client that registered itself and gets tokens without
 * a redirect: it may have named anybody's.
 */
function sectorOf({ id, redirectUris, grantTypes, settings }: Client): string {
  const isProven = grantTypes.every((name) => BY_REDIRECT.includes(name))
  if (settings.self_registered && !isProven) return id
  const address = settings.sector_identifier_uri ?? redirectUris[0]
  return address?.startsWith('https://') && URL.canParse(address) ? new URL(address).host : id
}
