import { deriveDocumentClientId } from '../clients/client.ts'
import { isVerifiedClient } from '../clients/self-registered.ts'
import type { ServerContext } from '../context.ts'
import { isOAuthError } from '../errors.ts'
import { parseForm } from '../http/form.ts'
import type { RequestingApplication, ShownResource } from '../pages/pages.ts'
import { findResource } from '../resources/requested.ts'
import type { GrantDetails } from '../storage/details.ts'
import type { Client } from '../storage/records.ts'

/**
 * Collects the information about a client that the approval screen shows: name, logo, links, and
 * whether it is verified.
 */
export function describeApplication(client: Client, context: ServerContext): RequestingApplication {
  const { id, name, userId } = client
  const verified = isVerifiedClient(client)
  return {
    client: { id, name, userId },
    // Only for verified clients: a logo is more convincing than a name, so an unverified client
    // must not show a borrowed one.
    logo: verified ? findLogoUrl(client, context) : null,
    policyUri: client.settings.policy_uri ?? null,
    termsUri: client.settings.tos_uri ?? null,
    verified,
    selfRegistered: describeSelfRegistration(client),
  }
}

/** Lists the APIs that a request is for. Empty if it is for the server's own API. */
export function describeResources(
  details: GrantDetails | null,
  { options: { resources } }: ServerContext,
): ShownResource[] {
  const uris = details?.resources ?? []
  return uris.map((uri) => ({ uri, name: findResource(uri, resources)?.name ?? null }))
}

function findLogoUrl(client: Client, context: ServerContext): string | null {
  for (const feature of context.features.all) {
    const path = feature.logoPath?.(client, context)
    if (path) return path
  }
  return null
}

/** Describes how a client registered itself. `null` if you or a user registered it. */
function describeSelfRegistration({ settings }: Client): RequestingApplication['selfRegistered'] {
  const { self_registered: registration } = settings
  if (!registration) return null
  const { document, verified = false } = registration
  return { host: document === undefined ? null : new URL(document).host, verified }
}

/**
 * Finds the client whose authorization request the sign-in page returns to. Takes only the client
 * id from the URL `returnTo`. Returns `null` if the URL is not an authorization request of a known
 * client.
 */
export async function findRequestingApplication(
  returnTo: string,
  context: ServerContext,
): Promise<RequestingApplication | null> {
  const start = `${context.options.basePath}/authorize?`
  if (!returnTo.startsWith(start)) return null
  try {
    const clientId = parseForm(returnTo.slice(start.length)).get('client_id')
    if (clientId === undefined) return null
    // Uses only documents fetched before: otherwise any link to the sign-in page could make the
    // server send a request.
    const client = clientId.startsWith('https://')
      ? await context.clients.find(deriveDocumentClientId(clientId))
      : await context.clients.findNamed(clientId, context)
    return client && describeApplication(client, context)
  } catch (error) {
    // Handling the request itself will report the error.
    if (isOAuthError(error)) return null
    throw error
  }
}
