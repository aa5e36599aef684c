import type { HttpRequest } from '@tollgate/http'
import type { ServerContext } from '../../context.ts'
import { InvalidDpopProof, InvalidRequest } from '../../errors.ts'
import type { Client } from '../../storage/records.ts'
import type { Feature, ProvenKey } from '../feature.ts'
import { checkProof, type ProofChecker } from './check.ts'
import { createDpopNonces } from './nonces.ts'
import { createProofKeyCache } from './proof-key.ts'
import { createReplayDetector } from './replays.ts'
import { type DpopOptions, resolveDpopOptions } from './settings.ts'

/** A SHA-256 thumbprint (RFC 7638). */
const THUMBPRINT = /^[\w-]{43}$/

/**
 * Binds tokens to a key of the client (DPoP, RFC 9449). The client proves with each request that it
 * holds the key, so a stolen token is useless. Clients that send no proof still get bearer tokens,
 * unless `required` is set.
 * @example
 * createAuthorizationServer({ …, grants: [authorizationCode(), refreshToken()], features: [dpop()] })
 */
export function dpop(options: DpopOptions = {}): Feature {
  const settings = resolveDpopOptions(options)
  const { algorithms, apiUrls } = settings
  const checker: ProofChecker = {
    settings,
    keys: createProofKeyCache(algorithms),
    nonces: createDpopNonces(),
    replays: createReplayDetector(),
  }
  return {
    name: 'dpop',
    enforces: ['dpop_bound_access_tokens'],
    metadata: () => ({ dpop_signing_alg_values_supported: algorithms }),
    requestParameters: ['dpop_jkt'],
    readRequest(params, { client, responseType }) {
      const key = params.get('dpop_jkt')
      const givesToken = responseType.split(' ').includes('token')
      // No proof can be sent at the authorization endpoint, so the token would not be bound.
      if (givesToken && (key !== undefined || mustProve(client, settings))) {
        throw new InvalidRequest(
          `response_type=${responseType} issues tokens that are not bound to a key`,
        )
      }
      if (key === undefined) return null
      if (!THUMBPRINT.test(key)) throw new InvalidRequest('dpop_jkt is not a key thumbprint')
      return { dpopKey: key }
    },
    keyProofs: {
      algorithms,
      rotatesRefreshTokens: settings.rotateRefreshTokens,
      apiUrls,
      prove: (request, client, context: ServerContext) => prove(request, client, checker, context),
      async check({ proof, accessToken, key, ...request }, context: ServerContext) {
        if (proof === null) {
          const message = 'The access token is bound to a key: send a DPoP proof'
          throw new InvalidDpopProof(message, { algorithms })
        }
        const token = { text: accessToken, key }
        await checkProof(proof, { ...request, token }, checker, context)
      },
    },
  }
}

/**
 * Checks the proof of a request to the token endpoint or of a pushed request. Returns `null` if
 * there is none and none is required.
 */
async function prove(
  request: HttpRequest,
  client: Client,
  checker: ProofChecker,
  context: ServerContext,
): Promise<ProvenKey | null> {
  const { settings, nonces } = checker
  const text = request.header('dpop')
  if (text === null) {
    if (mustProve(client, settings)) {
      throw new InvalidRequest('This client has to prove its key: send a DPoP proof')
    }
    return null
  }
  const { method, path } = request
  const origins = [context.options.issuerUrl.origin]
  const thumbprint = await checkProof(
    text,
    { method, path, origins, token: null },
    checker,
    context,
  )
  return {
    thumbprint,
    headers: settings.nonces ? { 'dpop-nonce': nonces.current(context) } : {},
  }
}

function mustProve({ settings }: Client, { required }: { readonly required: boolean }): boolean {
  return required || settings.dpop_bound_access_tokens === true
}
