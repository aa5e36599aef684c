import { expect, test } from 'vitest'
import { formatResponse } from './token.ts'

const response = { token_type: 'Bearer', expires_in: 3600, access_token: 'a-b_c.d.e' } as const

/** RFC 6749 §3.3: every character that a scope may have. */
const everyScopeCharacter = Array.from({ length: 0x7e - 0x20 }, (_, index) =>
  String.fromCharCode(index + 0x21),
)
  .filter((character) => character !== '"' && character !== '\\')
  .join('')

test.each([
  ['without a refresh token', { ...response, scope: 'read write' }],
  ['with one', { ...response, refresh_token: 'tgr_0199-ab.1.dXNlcg._-', scope: 'read' }],
  ['without a scope', { ...response, scope: '' }],
  ['with every character of a scope', { ...response, scope: everyScopeCharacter }],
])('a token response %s is the JSON of the same', (_, given) => {
  expect(JSON.parse(formatResponse(given))).toEqual(given)
})
