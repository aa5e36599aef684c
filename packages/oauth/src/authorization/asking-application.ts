import { rowIdOf } from '../clients/client.ts'
import { isVerified } from '../clients/self-registered.ts'
import type { ServerContext } from '../context.ts'
import { isOAuthError } from '../errors.ts'
import { parseForm } from '../http/form.ts'
import type { AskingApplication, ShownResource } from '../pages/pages.ts'
import { findResource } from '../resources/requested.ts'
import type { GrantDetails } from '../storage/details.ts'
import type { Client } from '../storage/records.ts'

/** What people are told of a client before they decide. */
export function describeApplication(client: Client, context: ServerContext): AskingApplication {
  const { id, name, userId } = client
  const verified = isVerified(client)
  return {
    client: { id, name, userId },
    // A picture says more than a name: nobody may borrow somebody else's.
    logo: verified ? logoOf(client, context) : null,
    policyUri: client.settings.policy_uri ?? null,
    termsUri: client.settings.tos_uri ?? null,
    verified,
    selfRegistered: originOf(client),
  }
}

/** The APIs that a request is for, where it is not for the server's own. */
export function describeResources(
  details: GrantDetails | null,
  { options: { resources } }: ServerContext,
): ShownResource[] {
  const uris = details?.resources ?? []
  return uris.map((uri) => ({ uri, name: findResource(uri, resources)?.name ?? null }))
}

function logoOf(client: Client, context: ServerContext): string | null {
  for (const feature of context.features.all) {
    const path = feature.logoPath?.(client, context)
    if (path) return path
  }
  return null
}

/** What is known of where a client came from by itself. */
function originOf({ settings }: Client): AskingApplication['selfRegistered'] {
  const { self_registered: registration } = settings
  if (!registration) return null
  const { document, verified = false } = registration
  return { host: document === undefined ? null : new URL(document).host, verified }
}

/**
 * Which application waits behind a return address of the sign-in page. Nothing but the client's id is taken from the
 * address, and what is no request of a client we know is nobody's.
 */
export async function findAsking(
  returnTo: string,
  context: ServerContext,
): Promise<AskingApplication | null> {
  const start = `${context.options.basePath}/authorize?`
  if (!returnTo.startsWith(start)) return null
  try {
    const clientId = parseForm(returnTo.slice(start.length)).get('client_id')
    if (clientId === undefined) return null
    // Only what is known: a link to the sign-in page makes the server ask nobody for a document.
    const client = clientId.startsWith('https://')
      ? await context.clients.find(rowIdOf(clientId))
      : await context.clients.findNamed(clientId, context)
    return client && describeApplication(client, context)
  } catch (error) {
    // The request itself will say what is wrong with it.
    if (isOAuthError(error)) return null
    throw error
  }
}
