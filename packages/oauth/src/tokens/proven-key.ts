import type { HttpRequest } from '@tollgate/http'
import { assertDemandsMet } from '../clients/settings/demands.ts'
import type { ServerContext } from '../context.ts'
import { InvalidRequest } from '../errors.ts'
import type { ProvenKey } from '../features/feature.ts'
import type { GrantDetails } from '../storage/details.ts'
import type { Client } from '../storage/records.ts'
import { issueTokens } from './issue.ts'

/**
 * What a request to an endpoint of ours proves. Whoever sends a proof relies on it, so where nobody can check
 * one it is refused: the token would be good for every thief.
 */
export function proveKey(
  request: HttpRequest,
  client: Client,
  context: ServerContext,
): Promise<ProvenKey | null> | null {
  const { keyProofs } = context.features
  if (keyProofs) return keyProofs.prove(request, client, context)
  // What it would get is good for everybody, and it has said that it takes no such token.
  if (client.settings.dpop_bound_access_tokens) assertDemandsMet(client, context)
  if (request.header('dpop') === null) return null
  throw new InvalidRequest('This server takes no DPoP proofs', {
    hint: 'List dpop() in features, or send no DPoP header',
  })
}

/** RFC 9449 §10: what was asked for with a key (`dpop_jkt`) is for its holder alone. */
export function isForHolder(
  { details }: { readonly details: GrantDetails | null },
  { provenKey }: Pick<ServerContext, 'provenKey'>,
): boolean {
  const key = details?.dpopKey
  return key === undefined || key === provenKey
}

/** Whatever is issued with this context is bound to the key, by whichever grant. */
export function boundContext(context: ServerContext, provenKey: string): ServerContext {
  const bound: ServerContext = {
    ...context,
    provenKey,
    issueTokens: (request) => issueTokens(request, bound),
  }
  return bound
}
