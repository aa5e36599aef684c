import { hmac } from '../../crypto.ts'
import type { Client } from '../../storage/records.ts'
import type { OpenIdSettings } from './settings.ts'

/**
 * What a client knows a person by (OpenID Connect Core §8). Pairwise: two clients cannot compare notes,
 * unless they have the same sector.
 */
export function subjectFor(client: Client, userId: string, settings: OpenIdSettings): string {
  const kind = client.settings.subject_type ?? 'public'
  if (kind === 'public' || settings.pairwiseKey === null) return userId
  return hmac(settings.pairwiseKey, JSON.stringify([sectorOf(client), userId]))
}

/** The host they were registered for; a client with several hosts names the sector itself. */
function sectorOf({ id, redirectUris, settings }: Client): string {
  const address = settings.sector_identifier_uri ?? redirectUris[0]
  return address && URL.canParse(address) ? new URL(address).host : id
}
