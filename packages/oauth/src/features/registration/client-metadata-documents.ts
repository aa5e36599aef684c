import type { ServerContext } from '../../context.ts'
import { parseSeconds } from '../../lifetimes.ts'
import type { Feature } from '../feature.ts'
import { findByDocument } from './client-document.ts'
import { ratePerMinute } from './settings.ts'

/** What `clientMetadataDocuments()` is made with. */
export interface ClientMetadataDocumentsOptions {
  /** Only documents on these hosts, such as `app.example.com`. Default: any host. */
  readonly hosts?: readonly string[]
  /**
   * What a client may ask people for. `registered`: of its document, what is marked for such clients. `marked`: all that
   * is, whatever its document says, for clients of many servers, which cannot name the scopes of each. Default
   * `registered`.
   */
  readonly scopes?: 'registered' | 'marked'
  /**
   * Where clients may be answered. `web`: at https, or at a loopback address of the person's own machine. `apps`: also at
   * the scheme of a program, such as `cursor:`. Default `web`.
   */
  readonly redirects?: 'web' | 'apps'
  /** How many new documents are fetched in a minute for one network, on all processes together. Default 10. */
  readonly perMinute?: number
  /** A client that has got no token until then is forgotten. Default 7 days. */
  readonly unusedExpireIn?: string | number
}

/**
 * Clients that nobody has to register: their `client_id` is the https address of a document that describes them
 * (draft-ietf-oauth-client-id-metadata-document). It is fetched under strict rules and kept as HTTP says. The limits
 * of clients that register themselves hold; people read the host, and that nobody here has verified it.
 * @example
 * createAuthorizationServer({ …, features: [clientMetadataDocuments()] })
 */
export function clientMetadataDocuments(options: ClientMetadataDocumentsOptions = {}): Feature {
  const name = 'clientMetadataDocuments'
  const settings = {
    hosts: options.hosts ? options.hosts.map((host) => host.toLowerCase()) : null,
    scopes: options.scopes ?? ('registered' as const),
    // They must use PKCE in any case, so they count as public even with a key of their own.
    redirects: options.redirects === 'apps' ? ('any' as const) : ('web' as const),
    rate: ratePerMinute(name, 'client documents', options.perMinute ?? 10),
    unusedSeconds: parseSeconds(`${name}: unusedExpireIn`, options.unusedExpireIn ?? '7d'),
  }
  return {
    name,
    authentication: { methods: ['none'] },
    metadata: () => ({ client_id_metadata_document_supported: true }),
    findClient(clientId, context: ServerContext) {
      return clientId.startsWith('https://') ? findByDocument(clientId, settings, context) : null
    },
  }
}
