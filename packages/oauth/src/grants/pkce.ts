import { areSecretsEqual, sha256 } from '../crypto.ts'
import { InvalidRequest } from '../errors.ts'
import type { Form } from '../http/form.ts'

/**
 * RFC 7636 §4.1: 43–128 unreserved characters. §4.2: an S256 challenge is 32 bytes in base64url.
 */
const VERIFIER = /^[\w.~-]{43,128}$/
const CHALLENGE = /^[\w-]{43}$/

/**
 * Reads the PKCE challenge of an authorization request; `null` if it has none. Only S256 is
 * accepted: a `plain` challenge that leaks is itself the verifier.
 */
export function readCodeChallenge(params: Form): string | null {
  const challenge = params.get('code_challenge')
  const method = params.get('code_challenge_method')
  if (challenge === undefined) {
    if (method === undefined) return null
    throw new InvalidRequest('code_challenge_method was sent without code_challenge')
  }
  if (method !== 'S256') {
    throw new InvalidRequest('code_challenge_method must be S256')
  }
  if (!CHALLENGE.test(challenge)) {
    throw new InvalidRequest('code_challenge must be 43 characters of base64url')
  }
  return challenge
}

/**
 * Whether the verifier matches the challenge. A verifier without a challenge is rejected too: it
 * suggests that the code was swapped.
 */
export function verifyChallenge(challenge: string | null, verifier: string | null): boolean {
  if (challenge === null || verifier === null) return challenge === verifier
  return VERIFIER.test(verifier) && areSecretsEqual(sha256(verifier), challenge)
}
