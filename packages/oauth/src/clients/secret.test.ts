import { expect, it } from 'vitest'
import type { ClientSettings } from '../storage/client-settings.ts'
import { exampleClient } from '../testing/contract-fixtures.ts'
import { createClientSecret, hasClientSecret } from './secret.ts'

const clientSecrets = {
  open: async (text: string) => text,
  close: async () => 'sealed',
  isCurrent: async () => true,
}

const cases: [string, boolean, ClientSettings, boolean][] = [
  ['a confidential client', true, {}, true],
  [
    'a confidential client that signs with its secret',
    true,
    { token_endpoint_auth_method: 'client_secret_jwt' },
    true,
  ],
  [
    'a confidential client that signs with its own key',
    true,
    { token_endpoint_auth_method: 'private_key_jwt' },
    false,
  ],
  ['a public client', false, {}, false],
  [
    'a public client that was confidential before',
    false,
    { token_endpoint_auth_method: 'client_secret_jwt' },
    false,
  ],
]
it.each(cases)(
  'a client secret is created only if the client authenticates with a secret: %s',
  async (...given) => {
    const [, confidential, settings, expected] = given
    const asked = { ...exampleClient, confidential, settings }
    expect(hasClientSecret(asked)).toBe(expected)
    const { secret, secretHash } = await createClientSecret(asked, { clientSecrets })
    expect([secret !== null, secretHash !== null]).toEqual([expected, expected])
  },
)
