import { newRedirectProblem } from '../../clients/redirect-uris.ts'
import { isLoopback } from '../../clients/settings/checks.ts'
import type { ServerContext } from '../../context.ts'
import { InvalidClientMetadata, InvalidRedirectUri } from '../../errors.ts'
import type { Client } from '../../storage/records.ts'

/**
 * Where clients may be answered that register themselves. `web`: at https, or at a loopback address of the person's own
 * machine. `apps`: also at the private-use scheme of a program, such as `cursor:`, if the client is public and so must use
 * PKCE. `any`: at such a scheme in any case.
 */
export type RedirectPolicy = 'web' | 'apps' | 'any'

const MOST_REDIRECTS = 50

export function readRedirects(
  given: unknown,
  { grantTypes, confidential }: Pick<Client, 'grantTypes' | 'confidential'>,
  policy: RedirectPolicy,
  context: ServerContext,
): string[] {
  const list = given ?? []
  if (!Array.isArray(list) || list.length > MOST_REDIRECTS) {
    throw new InvalidRedirectUri(
      `redirect_uris must be a list of at most ${MOST_REDIRECTS} addresses`,
    )
  }
  if (list.length === 0 && grantTypes.includes('authorization_code')) {
    throw new InvalidRedirectUri('redirect_uris is missing')
  }
  const opensApps = policy === 'any' || (policy === 'apps' && !confidential)
  return [...new Set(list.map((uri) => requireRedirect(uri, opensApps, context)))]
}

/** Where people may be sent after they have signed out: no stranger sends them into an app either. */
export function assertReturns(
  uris: readonly string[] = [],
  policy: RedirectPolicy,
  context: ServerContext,
): void {
  for (const uri of uris) {
    const problem = strangersProblem(uri, policy === 'any', context)
    if (problem === null) continue
    throw new InvalidClientMetadata(`The address '${uri.slice(0, 100)}' after a logout ${problem}`)
  }
}

function requireRedirect(uri: unknown, opensApps: boolean, context: ServerContext): string {
  if (typeof uri !== 'string') throw new InvalidRedirectUri('redirect_uris must hold addresses')
  const problem =
    newRedirectProblem(uri, context.issuer) ?? strangersProblem(uri, opensApps, context)
  if (problem === null) return uri
  throw new InvalidRedirectUri(`The redirect '${uri.slice(0, 100)}' ${problem}`)
}

function strangersProblem(
  uri: string,
  opensApps: boolean,
  { options }: ServerContext,
): string | null {
  const { protocol, hostname, origin } = new URL(uri)
  // A code that is sent to us would stand in our own logs and in what our pages refer to.
  if (origin === options.issuerUrl.origin) return 'must not lead to this server'
  if (protocol === 'https:') return null
  if (protocol === 'http:') {
    return isLoopback(hostname)
      ? null
      : 'must use https:, or http: on 127.0.0.1, [::1] or localhost'
  }
  return opensApps
    ? null
    : `must use https:, or http: on this machine: here ${protocol} is not open to such a client`
}
