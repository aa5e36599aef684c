import { describe, expect, it } from 'vitest'
import { createKeyring } from '../../keys/keyring.ts'
import { createRefreshTokens } from './refresh-tokens.ts'

const content = {
  tokenId: '019b76da-a800-7921-bbcd-50e2eab1ff58',
  generation: 7,
  userId: 'adä@example.com',
}
const [oldSecret, newSecret] = ['o'.repeat(32), 'n'.repeat(32)]

describe('refresh tokens', () => {
  const tokens = createRefreshTokens(createKeyring([oldSecret]))
  const text = tokens.format(content)

  it('can be parsed into the values they were created from, and are accepted in only one spelling', () => {
    expect(tokens.parse(text)).toEqual(content)
    expect(tokens.format(content)).toBe(text)
  })

  it.each([
    ['another generation', text.replace('.7.', '.8.')],
    ['another row', text.replace('019b', '019c')],
    ['another user', text.replace(Buffer.from('ad').toString('base64url').slice(0, 2), 'Ym')],
    ['a leading zero in the generation', text.replace('.7.', '.07.')],
    ['one character changed', text.replace(/.$/, (last) => (last === 'A' ? 'E' : 'A'))],
    ['one character missing', text.slice(0, -1)],
    ['one character added', `${text}A`],
    ['a space at the end', `${text} `],
    ['a line break at the end', `${text}\n`],
    ['no prefix', text.replace('tgr_', '')],
    ['no text at all', ''],
  ])('are rejected with %s', (_what, damaged) => {
    expect(tokens.parse(damaged)).toBeNull()
  })

  it("stay valid after a change of the server's secret while the old secret is still listed", () => {
    const both = createRefreshTokens(createKeyring([newSecret, oldSecret]))
    expect(both.parse(text)).toEqual(content)
    expect(tokens.parse(both.format(content))).toBeNull()
    expect(createRefreshTokens(createKeyring([newSecret])).parse(text)).toBeNull()
  })
})
