import { expect, it } from 'vitest'
import type { ClientSettings } from '../storage/client-settings.ts'
import { client } from '../testing/contract-fixtures.ts'
import { hasOwnSecret, newSecret } from './secret.ts'

const clientSecrets = {
  open: async (text: string) => text,
  close: async () => 'sealed',
  isCurrent: async () => true,
}

const cases: [string, boolean, ClientSettings, boolean][] = [
  ['a confidential client', true, {}, true],
  ['one that signs with it', true, { token_endpoint_auth_method: 'client_secret_jwt' }, true],
  [
    'one that signs with its own key',
    true,
    { token_endpoint_auth_method: 'private_key_jwt' },
    false,
  ],
  ['a public client', false, {}, false],
  ['a public one of before', false, { token_endpoint_auth_method: 'client_secret_jwt' }, false],
]
it.each(cases)('gives a secret to clients that prove themselves by one: %s', async (...given) => {
  const [, confidential, settings, expected] = given
  const asked = { ...client, confidential, settings }
  expect(hasOwnSecret(asked)).toBe(expected)
  const { secret, secretHash } = await newSecret(asked, { clientSecrets })
  expect([secret !== null, secretHash !== null]).toEqual([expected, expected])
})
