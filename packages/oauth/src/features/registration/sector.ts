import { NotFetched } from '@tollgate/http/outgoing'
import { InvalidClientMetadata } from '../../errors.ts'
import type { DocumentRules, Documents } from '../../outgoing/documents.ts'
import type { DescribedClient } from './read-metadata.ts'

const SECTOR: DocumentRules = {
  types: ['application/json'],
  largest: 64 * 1024,
  staleIfError: 0,
}

/** Fetches a document, from the cache or not: registrations need the current one. */
type FetchDocument = Documents['get']

/**
 * Requires that clients which share pairwise subjects prove that they belong together (OpenID
 * Connect Registration §5): the document of the sector lists all of their redirect URIs.
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
