import { equalSecrets, sha256 } from '../crypto.ts'
import { InvalidRequest } from '../errors.ts'
import type { Form } from '../http/form.ts'

/** RFC 7636 §4.1: 43–128 unreserved characters; §4.2: an S256 challenge is 32 bytes in base64url. */
const VERIFIER = /^[\w.~-]{43,128}$/
const CHALLENGE = /^[\w-]{43}$/

/** The challenge of an authorization request. Only S256: `plain` protects nothing that leaks. */
export function readChallenge(params: Form): string | null {
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

/** A challenge needs its verifier, and a verifier without a challenge hints at a swapped code. */
export function verifyChallenge(challenge: string | null, verifier: string | null): boolean {
  if (challenge === null || verifier === null) return challenge === verifier
  return VERIFIER.test(verifier) && equalSecrets(sha256(verifier), challenge)
}
