import type { HttpRequest } from '@tollgate/http'
import type { ServerContext } from '../context.ts'
import { InvalidToken } from '../errors.ts'
import type { GuardProofChecker } from '../guard/key-proof.ts'
import type { VerifiedToken } from '../guard/verify.ts'
import type { ResourceServer } from '../resources/resources.ts'

/**
 * Creates the check by which the guards of an API verify that a caller holds the key of its token.
 * `null` if no feature can check proofs.
 */
export function createGuardProofChecker(
  { uri }: Pick<ResourceServer, 'uri'>,
  context: ServerContext,
): GuardProofChecker | null {
  const { options, features } = context
  const { keyProofs } = features
  if (!keyProofs) return null
  const { origin } = options.issuerUrl
  // The server's own API may have a URI that differs from the server's address.
  const isOwn = uri === options.resources.own.uri
  const named = /^https?:/.test(uri) ? [new URL(uri).origin] : [origin]
  return {
    algorithms: keyProofs.algorithms,
    origins: [...new Set([...(isOwn ? [origin] : []), ...named, ...keyProofs.apiUrls])],
    check: (proof) => keyProofs.check(proof, context),
  }
}

/**
 * Checks, at an endpoint of the server itself, that the caller holds the key of its access token.
 * Does nothing if the token is not bound to a key.
 * @throws InvalidToken if the proof is missing or invalid
 */
export async function requireKeyHolder(
  token: VerifiedToken,
  accessToken: string,
  request: HttpRequest,
  context: ServerContext,
): Promise<void> {
  const key = token.claims.cnf?.jkt
  if (key === undefined) return
  const proofs = createGuardProofChecker(context.options.resources.own, context)
  if (!proofs)
    throw new InvalidToken(
      'The access token is bound to a key, but DPoP proofs are not supported here',
    )
  const { method, path } = request
  const origins = [context.options.issuerUrl.origin]
  await proofs.check({ proof: request.header('dpop'), method, path, origins, accessToken, key })
}
