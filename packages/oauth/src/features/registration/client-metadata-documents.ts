import type { ServerContext } from '../../context.ts'
import { parseSeconds } from '../../lifetimes.ts'
import type { Feature } from '../feature.ts'
import { findClientByDocument } from './client-document.ts'
import { createRatePerMinute } from './settings.ts'

/** Options of `clientMetadataDocuments()`. */
export interface ClientMetadataDocumentsOptions {
  /** Hosts whose documents are accepted, such as `app.example.com`. By default, all hosts. */
  readonly hosts?: readonly string[]
  /**
   * Scopes that a client may request. `registered`: those in its document, limited to the option
   * `selfRegistered.scopes`. `marked`: all scopes in `selfRegistered.scopes`, for clients that work
   * with many servers and cannot list the scopes of each.
   * @default 'registered'
   */
  readonly scopes?: 'registered' | 'marked'
  /**
   * Accepted redirect URIs. `web`: https or a loopback address. `apps`: also a private-use scheme
   * such as `cursor:`.
   * @default 'web'
   */
  readonly redirects?: 'web' | 'apps'
  /** New documents fetched per minute and network, across all processes. @default 10 */
  readonly perMinute?: number
  /** Time after which a client is deleted if it was never approved or given a token. @default '7d' */
  readonly unusedExpireIn?: string | number
}

/**
 * Accepts clients without registration: their `client_id` is the https URL of a document that
 * describes them (draft-ietf-oauth-client-id-metadata-document). The document is fetched under
 * strict rules and cached by HTTP rules. The limits of the option `selfRegistered` apply. The
 * approval screen shows the host of the document, and that the client is unverified.
 * @example
 * createAuthorizationServer({ …, features: [clientMetadataDocuments()] })
 */
export function clientMetadataDocuments(options: ClientMetadataDocumentsOptions = {}): Feature {
  const name = 'clientMetadataDocuments'
  const settings = {
    hosts: options.hosts ? options.hosts.map((host) => host.toLowerCase()) : null,
    scopes: options.scopes ?? ('registered' as const),
    // These clients must use PKCE in any case, so `any` is safe even for one with its own key.
    redirects: options.redirects === 'apps' ? ('any' as const) : ('web' as const),
    rate: createRatePerMinute(name, 'client documents', options.perMinute ?? 10),
    unusedSeconds: parseSeconds(`${name}: unusedExpireIn`, options.unusedExpireIn ?? '7d'),
  }
  return {
    name,
    authentication: { methods: ['none'] },
    metadata: () => ({ client_id_metadata_document_supported: true }),
    findClient(clientId, context: ServerContext) {
      return clientId.startsWith('https://')
        ? findClientByDocument(clientId, settings, context)
        : null
    },
  }
}
