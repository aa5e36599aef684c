import type { ServiceContext } from '../../context.ts'

/**
 * Returns the origins that the sign-in form may redirect to, for the `form-action` of its content
 * security policy. After the sign-in, an application that was approved before gets its response at
 * once. If the request names no `redirect_uri`, returns the origins of all redirect URIs of the
 * client.
 */
export async function listRedirectTargets(
  returnTo: string,
  { oauth }: ServiceContext,
): Promise<string[]> {
  if (!returnTo.startsWith('/oauth/authorize?')) return []
  const query = new URL(returnTo, 'http://localhost').searchParams
  const named = query.get('redirect_uri')
  const targets = named === null ? await allRedirects(oauth, query.get('client_id')) : [named]
  return [...new Set(targets.filter((target) => URL.canParse(target)).map(toCspSource))].filter(
    (source) => /^[a-z][\w+.:/[\]-]*$/i.test(source),
  )
}

/** The source expression for a URL in a content security policy. */
function toCspSource(address: string): string {
  const { protocol, origin } = new URL(address)
  return protocol === 'http:' || protocol === 'https:' ? origin : protocol
}

async function allRedirects(
  oauth: ServiceContext['oauth'],
  clientId: string | null,
): Promise<readonly string[]> {
  const client = clientId ? await oauth.clients.find(clientId) : null
  return client?.redirectUris ?? []
}
