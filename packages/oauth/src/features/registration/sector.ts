import { NotFetched } from '@tollgate/http/outgoing'
import { InvalidClientMetadata } from '../../errors.ts'
import type { DocumentFetcher, DocumentRules } from '../../outgoing/documents.ts'
import type { ValidatedClientMetadata } from './read-metadata.ts'

const SECTOR: DocumentRules = {
  types: ['application/json'],
  largest: 64 * 1024,
  staleIfError: 0,
}

/**
 * Fetches a document, either from the network or through the cache. Registrations pass a function
 * that fetches the current document.
 */
type FetchDocument = DocumentFetcher['get']

/**
 * Checks that the document at the client's `sector_identifier_uri` lists all of its redirect URIs
 * (OpenID Connect Registration §5). This proves that clients which share pairwise subjects belong
 * together. `by` is the network that caused the request.
 */
export async function assertSectorListsRedirects(
  { redirectUris, settings }: ValidatedClientMetadata,
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
  throw new InvalidClientMetadata(
    'The document at the sector_identifier_uri must be a list of URIs',
  )
}
