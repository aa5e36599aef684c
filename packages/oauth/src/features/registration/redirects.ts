import { findNewRedirectProblem } from '../../clients/redirect-uris.ts'
import { isLoopback } from '../../clients/settings/checks.ts'
import type { ServerContext } from '../../context.ts'
import { InvalidClientMetadata, InvalidRedirectUri } from '../../errors.ts'
import type { Client } from '../../storage/records.ts'

/**
 * The redirect URIs that self-registered clients may use. `web`: https or a loopback address.
 * `apps`: also a private-use scheme such as `cursor:`, if the client is public and must use PKCE.
 * `any`: such schemes for all clients.
 */
export type RedirectPolicy = 'web' | 'apps' | 'any'

const MAX_REDIRECTS = 50

export function readRedirects(
  rawRedirects: unknown,
  { grantTypes, confidential }: Pick<Client, 'grantTypes' | 'confidential'>,
  policy: RedirectPolicy,
  context: ServerContext,
): string[] {
  const list = rawRedirects ?? []
  if (!Array.isArray(list) || list.length > MAX_REDIRECTS) {
    throw new InvalidRedirectUri(`redirect_uris must be a list of at most ${MAX_REDIRECTS} URIs`)
  }
  if (list.length === 0 && grantTypes.includes('authorization_code')) {
    throw new InvalidRedirectUri('redirect_uris is missing')
  }
  const opensApps = policy === 'any' || (policy === 'apps' && !confidential)
  return [...new Set(list.map((uri) => requireRedirect(uri, opensApps, context)))]
}

/**
 * Checks the URIs to which a client wants people redirected after signing out. URIs that open an
 * app are accepted only with the policy `any`.
 */
export function assertPostLogoutRedirects(
  uris: readonly string[] = [],
  policy: RedirectPolicy,
  context: ServerContext,
): void {
  for (const uri of uris) {
    const problem = findRedirectProblem(uri, policy === 'any', context)
    if (problem === null) continue
    throw new InvalidClientMetadata(`The post-logout redirect '${uri.slice(0, 100)}' ${problem}`)
  }
}

function requireRedirect(uri: unknown, opensApps: boolean, context: ServerContext): string {
  if (typeof uri !== 'string') throw new InvalidRedirectUri('redirect_uris must contain only URIs')
  const problem =
    findNewRedirectProblem(uri, context.issuer) ?? findRedirectProblem(uri, opensApps, context)
  if (problem === null) return uri
  throw new InvalidRedirectUri(`The redirect '${uri.slice(0, 100)}' ${problem}`)
}

function findRedirectProblem(
  uri: string,
  opensApps: boolean,
  { options }: ServerContext,
): string | null {
  const { protocol, hostname, origin } = new URL(uri)
  // A code sent to this server would appear in its own logs and in Referer headers.
  if (origin === options.issuerUrl.origin) return 'must not lead to this server'
  if (protocol === 'https:') return null
  if (protocol === 'http:') {
    return isLoopback(hostname)
      ? null
      : 'must use https:, or http: on 127.0.0.1, [::1] or localhost'
  }
  return opensApps
    ? null
    : `must use https:, or http: on this machine: this client may not use ${protocol}`
}
