import { mayReach, stillGranted } from '../clients/self-registered.ts'
import type { ServerContext } from '../context.ts'
import { InvalidGrant } from '../errors.ts'
import type { Form } from '../http/form.ts'
import {
  assertKnownThere,
  grantedResources,
  knownThere,
  readResources,
  resourceDetails,
  resourcesOfOneToken,
} from '../resources/requested.ts'
import { narrowScopes } from '../scopes.ts'
import type { GrantDetails } from '../storage/details.ts'
import type { Client, Token } from '../storage/records.ts'
import type { TokenShare } from '../tokens/formats/format.ts'

/** What a grant that begins at the token endpoint writes down of `resource`; null for the server's own. */
export function detailsOfRequest(
  params: Form,
  scopes: readonly string[],
  { options: { resources, identityScopes } }: ServerContext,
): GrantDetails | null {
  const requested = readResources(params, resources)
  if (requested !== null) resourcesOfOneToken(requested, requested, resources)
  assertKnownThere(scopes, requested, resources, identityScopes)
  return resourceDetails(requested, resources)
}

/** Who asks for a token of what was granted, and for how much of it. */
export interface ShareRequest {
  readonly client: Client
  readonly params: Form
  /** Empty: all. */
  readonly scopes: readonly string[]
}

/** What the next token is for: all that was granted and is still to be had, or what the request names of it. */
export function shareOfGrant(
  granted: Pick<Token, 'scopes' | 'details'>,
  { client, params, scopes: requested }: ShareRequest,
  context: ServerContext,
): TokenShare {
  const { options } = context
  const { resources: known, identityScopes } = options
  const resources = shareOfResources(granted, { client, params }, context)
  const left = stillGranted(granted.scopes, client, options)
  if (requested.length === 0) {
    return { scopes: knownThere(left, resources, known, identityScopes), resources }
  }
  const scopes = narrowScopes(left, requested, identityScopes)
  assertKnownThere(scopes, resources ?? null, known, identityScopes)
  return { scopes, resources }
}

function shareOfResources(
  granted: Pick<Token, 'details'>,
  { client, params }: Pick<ShareRequest, 'client' | 'params'>,
  { options }: ServerContext,
): readonly string[] | undefined {
  const { resources } = options
  const requested = readResources(params, resources)
  const open = grantedResources(granted, resources).filter((uri) => mayReach(client, uri, options))
  // Clients start again at this error; at another they would be stuck.
  if (open.length === 0) throw new InvalidGrant('What access was granted to is no longer there')
  return resourceDetails(resourcesOfOneToken(open, requested, resources), resources)?.resources
}
