import { newRedirectProblem } from '../../clients/redirect-uris.ts'
import { isLoopback } from '../../clients/settings/checks.ts'
import type { ServerContext } from '../../context.ts'
import { InvalidClientMetadata, InvalidRedirectUri } from '../../errors.ts'

/** `web`: https, or a program on the person's own machine. `any`: schemes of apps as well. */
export type RedirectPolicy = 'web' | 'any'

const MOST_REDIRECTS = 50

export function readRedirects(
  given: unknown,
  grantTypes: readonly string[],
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
  return [...new Set(list.map((uri) => requireRedirect(uri, policy, context)))]
}

/** Where people may be sent after they have signed out: no stranger sends them into an app either. */
export function assertReturns(
  uris: readonly string[] = [],
  policy: RedirectPolicy,
  context: ServerContext,
): void {
  for (const uri of uris) {
    const problem = strangersProblem(uri, policy, context)
    if (problem === null) continue
    throw new InvalidClientMetadata(`The address '${uri.slice(0, 100)}' after a logout ${problem}`)
  }
}

function requireRedirect(uri: unknown, policy: RedirectPolicy, context: ServerContext): string {
  if (typeof uri !== 'string') throw new InvalidRedirectUri('redirect_uris must hold addresses')
  const problem = newRedirectProblem(uri, context.issuer) ?? strangersProblem(uri, policy, context)
  if (problem === null) return uri
  throw new InvalidRedirectUri(`The redirect '${uri.slice(0, 100)}' ${problem}`)
}

function strangersProblem(
  uri: string,
  policy: RedirectPolicy,
  { options }: ServerContext,
): string | null {
  const { protocol, hostname, origin } = new URL(uri)
  // A code that is sent to us would stand in our own logs and in what our pages refer to.
  if (origin === options.issuerUrl.origin) return 'must not lead to this server'
  if (policy === 'any' || protocol === 'https:') return null
  if (protocol === 'http:' && isLoopback(hostname)) return null
  return 'must use https:, or http: on 127.0.0.1, [::1] or localhost'
}
