import { type ClientSettings, jwtClientAuthentication, pushedRequests } from '../../src/index.ts'
import { createClient, startServer, type TestServer } from '../support.ts'
import { assertionClaims, callWith, createSigner, outgoing, type Signer, sign } from './support.ts'

export const GRANTS = ['client_credentials', 'authorization_code'] as const
export const REFUSED = { status: 401, error: 'invalid_client' }

/**
 * Starts a server whose clients may authenticate with a JWT, signed by a key or with their secret.
 */
export function startAsserting(): Promise<TestServer> {
  const features = [jwtClientAuthentication({ sharedSecrets: true }), pushedRequests()]
  return startServer({ features, outgoing: outgoing() })
}

interface KeyHolder {
  readonly id: string
  readonly signer: Signer
}

/**
 * Helpers for clients that authenticate with a JWT. They read the server when called, because a
 * test creates it later.
 */
export function assertingClients(serverOf: () => TestServer) {
  const newClient = (settings: ClientSettings) =>
    createClient(serverOf(), { grants: [...GRANTS], settings })
  return {
    newClient,
    async clientWithKey(algorithm = 'ES256', settings: ClientSettings = {}): Promise<KeyHolder> {
      const signer = await createSigner(algorithm)
      const { id } = await newClient({
        token_endpoint_auth_method: 'private_key_jwt',
        jwks: { keys: [signer.jwk] },
        ...settings,
      })
      return { id, signer }
    },
    proofOf(
      { id, signer }: KeyHolder,
      changes: Record<string, unknown> = {},
      header: Record<string, unknown> = {},
    ): Promise<string> {
      const claims = { ...assertionClaims(serverOf(), id), ...changes }
      return sign(claims, signer.privateKey, { ...headerOf(signer), ...header })
    },
    async problemWith(assertion: string, beside: Record<string, string> = {}) {
      const reply = await callWith(serverOf(), assertion, beside)
      return { status: reply.status, ...((await reply.json()) as { error?: string }) }
    },
  }
}

export const headerOf = ({ algorithm }: Signer) => ({ alg: algorithm, kid: 'key' })
