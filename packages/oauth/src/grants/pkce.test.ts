import { describe, expect, it } from 'vitest'
import { sha256 } from '../crypto.ts'
import { readCodeChallenge, verifyChallenge } from './pkce.ts'

/** The example of RFC 7636 appendix B. */
const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'

describe('readCodeChallenge (PKCE)', () => {
  const read = (params: Record<string, string>) =>
    readCodeChallenge(new Map(Object.entries(params)))

  it('returns null when no challenge was sent', () => {
    expect(read({})).toBeNull()
  })

  it('accepts an S256 challenge', () => {
    expect(read({ code_challenge: challenge, code_challenge_method: 'S256' })).toBe(challenge)
  })

  it.each([
    { code_challenge: challenge },
    { code_challenge: challenge, code_challenge_method: 'plain' },
    { code_challenge: challenge, code_challenge_method: 's256' },
    { code_challenge_method: 'S256' },
    { code_challenge: challenge.slice(1), code_challenge_method: 'S256' },
    { code_challenge: `${challenge}=`, code_challenge_method: 'S256' },
    { code_challenge: challenge.replace('-', '+'), code_challenge_method: 'S256' },
    { code_challenge: `${challenge}\n`, code_challenge_method: 'S256' },
  ])('rejects the request parameters %j', (params) => {
    expect(() => read(params as Record<string, string>)).toThrow(
      expect.objectContaining({ code: 'invalid_request' }),
    )
  })
})

describe('verifyChallenge (PKCE)', () => {
  it.each([
    ['accepts the verifier of RFC 7636', challenge, verifier, true],
    ['accepts a code without a challenge and a request without a verifier', null, null, true],
    ['rejects a missing verifier', challenge, null, false],
    ['rejects a verifier if there was no challenge', null, verifier, false],
    ['rejects a wrong verifier', challenge, 'x'.repeat(43), false],
    ['rejects the challenge itself as the verifier', challenge, challenge, false],
  ])('%s', (_what, expected, given, result) => {
    expect(verifyChallenge(expected, given)).toBe(result)
  })

  it.each([
    ['that is too short', verifier.slice(1)],
    ['that is too long', verifier.repeat(3)],
    ['that ends with a line break', `${verifier}\n`],
  ])('rejects a code verifier %s, although it matches the challenge', (_what, given) => {
    expect(verifyChallenge(sha256(given), given)).toBe(false)
  })
})
