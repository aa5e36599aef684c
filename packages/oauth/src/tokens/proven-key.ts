import type { HttpRequest } from '@tollgate/http'
import { assertClientRequirementsMet } from '../clients/settings/demands.ts'
import type { ServerContext } from '../context.ts'
import { InvalidRequest } from '../errors.ts'
import type { ProvenKey } from '../features/feature.ts'
import type { GrantDetails } from '../storage/details.ts'
import type { Client } from '../storage/records.ts'
import { issueTokens } from './issue.ts'

/**
 * Checks the DPoP proof of a request and returns the key that it proves. `null` if the request has
 * no proof. A proof is rejected if no feature can check it, because the client relies on getting a
 * token bound to its key.
 * @throws InvalidRequest if the server does not support DPoP
 */
export function readProvenKey(
  request: HttpRequest,
  client: Client,
  context: ServerContext,
): Promise<ProvenKey | null> | null {
  const { keyProofs } = context.features
  if (keyProofs) return keyProofs.prove(request, client, context)
  // The client accepts only bound tokens, which this server cannot issue.
  if (client.settings.dpop_bound_access_tokens) assertClientRequirementsMet(client, context)
  if (request.header('dpop') === null) return null
  throw new InvalidRequest('This server does not support DPoP proofs', {
    hint: 'Add dpop() to features, or omit the DPoP header',
  })
}

/**
 * Whether the proven key is the key that the authorization request named by `dpop_jkt` (RFC 9449
 * §10). Always `true` if the request named none.
 */
export function matchesProvenKey(
  { details }: { readonly details: GrantDetails | null },
  { provenKey }: Pick<ServerContext, 'provenKey'>,
): boolean {
  const key = details?.dpopKey
  return key === undefined || key === provenKey
}

/**
 * Returns a copy of the server context in which every grant binds the tokens that it issues to this
 * key.
 */
export function bindTokensToKey(context: ServerContext, provenKey: string): ServerContext {
  const bound: ServerContext = {
    ...context,
    provenKey,
    issueTokens: (request) => issueTokens(request, bound),
  }
  return bound
}
