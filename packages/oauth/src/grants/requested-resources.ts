import type { ServerContext } from '../context.ts'
import type { Form } from '../http/form.ts'
import {
  assertKnownThere,
  grantedResources,
  narrowResources,
  readResources,
  resourceDetails,
} from '../resources/requested.ts'
import type { GrantDetails } from '../storage/details.ts'
import type { Token } from '../storage/records.ts'

/** What a grant that begins at the token endpoint writes down of `resource`; null for the server's own. */
export function detailsOfRequest(
  params: Form,
  scopes: readonly string[],
  { options: { resources, identityScopes } }: ServerContext,
): GrantDetails | null {
  const requested = readResources(params, resources)
  assertKnownThere(scopes, requested, resources, identityScopes)
  return resourceDetails(requested, resources)
}

/** The APIs that the next token is for: all that were granted, or those of them that the request names. */
export function shareOfResources(
  granted: Pick<Token, 'details'>,
  params: Form,
  { options: { resources } }: ServerContext,
): readonly string[] | undefined {
  const requested = readResources(params, resources)
  if (requested === null) return granted.details?.resources
  narrowResources(grantedResources(granted, resources), requested)
  return resourceDetails(requested, resources)?.resources
}
