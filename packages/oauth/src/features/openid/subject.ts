import { computeHmac } from '../../crypto.ts'
import { UnauthorizedClient } from '../../errors.ts'
import type { Client } from '../../storage/records.ts'
import type { OpenIdSettings } from './settings.ts'

/**
 * Returns the subject under which a client knows a person (OpenID Connect Core §8). With pairwise
 * subjects, clients of different sectors cannot link their data about a person.
 */
export function chooseSubjectForClient(
  client: Client,
  userId: string,
  settings: OpenIdSettings,
): string {
  const kind = client.settings.subject_type ?? 'public'
  if (kind === 'public') return userId
  if (settings.pairwiseKey === null) {
    // Failing is better than revealing the public subject.
    throw new UnauthorizedClient(
      'This client has pairwise subjects, which this server does not support',
    )
  }
  return computeHmac(settings.pairwiseKey, JSON.stringify([findSector(client), userId]))
}

/** Grants whose result is sent to a redirect URI, which proves the client's host. */
const BY_REDIRECT: readonly string[] = ['authorization_code', 'refresh_token']

/**
 * Returns the sector: the host of the sector identifier or of the redirect URI. It is the client's
 * own id where no host is proven: for apps and programs on a person's machine, and for
 * self-registered clients with grants that use no redirect, since these could name any host.
 */
function findSector({ id, redirectUris, grantTypes, settings }: Client): string {
  const isProven = grantTypes.every((name) => BY_REDIRECT.includes(name))
  if (settings.self_registered && !isProven) return id
  const address = settings.sector_identifier_uri ?? redirectUris[0]
  return address?.startsWith('https://') && URL.canParse(address) ? new URL(address).host : id
}
