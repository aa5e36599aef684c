import { describe, expect, it } from 'vitest'
import { sha256 } from '../crypto.ts'
import { readChallenge, verifyChallenge } from './pkce.ts'

/** RFC 7636 appendix B. */
const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'

describe('readChallenge', () => {
  const read = (params: Record<string, string>) => readChallenge(new Map(Object.entries(params)))

  it('is null when none was sent', () => {
    expect(read({})).toBeNull()
  })

  it('takes S256', () => {
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
  ])('refuses %j', (params) => {
    expect(() => read(params as Record<string, string>)).toThrow(
      expect.objectContaining({ code: 'invalid_request' }),
    )
  })
})

describe('verifyChallenge', () => {
  it.each([
    ['the verifier of RFC 7636', challenge, verifier, true],
    ['neither', null, null, true],
    ['no verifier', challenge, null, false],
    ['a verifier nobody asked for', null, verifier, false],
    ['another verifier', challenge, 'x'.repeat(43), false],
    ['the challenge itself', challenge, challenge, false],
  ])('%s', (_what, expected, given, result) => {
    expect(verifyChallenge(expected, given)).toBe(result)
  })

  it.each([
    ['too short', verifier.slice(1)],
    ['too long', verifier.repeat(3)],
    ['with a line end', `${verifier}\n`],
  ])('refuses a verifier %s, although its challenge is right', (_what, given) => {
    expect(verifyChallenge(sha256(given), given)).toBe(false)
  })
})
