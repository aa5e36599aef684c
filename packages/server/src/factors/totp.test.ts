import { expect, it } from 'vitest'
import { createRecoveryCodes, hashRecoveryCode } from './recovery-codes.ts'
import { buildTotpUri, computeTotpCode, createTotpSecret, totpStepAt } from './totp.ts'

/** The secret of RFC 6238 appendix B, `12345678901234567890`, in base32. */
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'

it.each([
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
])('the code at %i seconds is %s, as in RFC 6238 appendix B', (seconds, code) => {
  expect(computeTotpCode(SECRET, totpStepAt(new Date(seconds * 1000)))).toBe(code)
})

it('a new secret has 160 random bits in base32', () => {
  const secrets = Array.from({ length: 50 }, createTotpSecret)
  expect(new Set(secrets).size).toBe(50)
  for (const secret of secrets) expect(secret).toMatch(/^[A-Z2-7]{32}$/)
})

it('the URI names the service and the account, whatever characters they contain', () => {
  const uri = new URL(buildTotpUri(SECRET, 'Shop: A & B', 'ada+1@example.com'))
  expect(decodeURIComponent(uri.pathname)).toContain('Shop  A & B:ada+1@example.com')
  expect(Object.fromEntries(uri.searchParams)).toMatchObject({
    secret: SECRET,
    issuer: 'Shop  A & B',
  })
})

it('every recovery code is recognized, even if letters and digits that look alike are confused', () => {
  for (const code of createRecoveryCodes()) {
    expect(hashRecoveryCode('1', code)).toMatch(/^[\w-]{43}$/)
    const confused = code.replaceAll('0', 'O').replaceAll('1', 'l')
    expect(hashRecoveryCode('1', confused)).toBe(hashRecoveryCode('1', code))
    expect(hashRecoveryCode('2', code)).not.toBe(hashRecoveryCode('1', code))
  }
  for (const text of ['', 'abc', 'u'.repeat(16)]) expect(hashRecoveryCode('1', text)).toBeNull()
})
