import { NotFetched } from '@tollgate/http/outgoing'
import { InvalidClientMetadata } from '../../errors.ts'
import type { DocumentRules, Documents } from '../../outgoing/documents.ts'
import type { DescribedClient } from './read-metadata.ts'

const SECTOR: DocumentRules = {
  types: ['application/json'],
  largest: 64 * 1024,
  usableWhenAway: 0,
}

/** From memory or not: whoever registers is looked at now. */
type FetchDocument = Documents['get']

/**
 * OpenID Connect Registration §5: clients that want to know people by the same names prove that they belong
 * together. All of their redirects are listed at the sector's address.
 */
export async function assertSector(
  { redirectUris, settings }: DescribedClient,
  fetchList: FetchDocument,
  by: string | null,
): Promise<void> {
  const { sector_identifier_uri: sector, subject_type } = settings
  if (sector === undefined) {
    const hosts = new Set(redirectUris.map((uri) => new URL(uri).host))
    if (subject_type !== 'pairwise' || hosts.size <= 1) return
    throw new InvalidClientMetadata(
      'Redirects on several hosts with subject_type pairwise need a sector_identifier_uri',
    )
  }
  const listed = await readList(sector, fetchList, by)
  const missing = redirectUris.find((uri) => !listed.includes(uri))
  if (missing !== undefined) {
    throw new InvalidClientMetadata('The sector_identifier_uri does not list all redirect_uris')
  }
}

async function readList(
  sector: string,
  fetchList: FetchDocument,
  by: string | null,
): Promise<readonly unknown[]> {
  try {
    const { content } = await fetchList(sector, SECTOR, by)
    if (Array.isArray(content)) return content
  } catch (cause) {
    if (!(cause instanceof NotFetched)) throw cause
    throw new InvalidClientMetadata('The sector_identifier_uri cannot be fetched', { cause })
  }
  throw new InvalidClientMetadata('The sector_identifier_uri must hold a list of addresses')
}
