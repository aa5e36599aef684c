import type { HttpRequest } from '@tollgate/http'
import { describe, expect, it } from 'vitest'
import type { ServerContext } from '../context.ts'
import { sha256 } from '../crypto.ts'
import type { Client } from '../storage/records.ts'
import { authenticateClient } from './authenticate.ts'

const secrets = new Map<string, string | null>([
  ['shop', 'tgs_secret'],
  ['odd id', 'a:b%+ü'],
  ['spa', null],
  ['hash lost', null],
  ['hash emptied', ''],
])
const context = {
  features: { authenticators: [] },
  clients: {
    findNamed: async (id: string) => {
      const secret = secrets.get(id)
      if (secret === undefined) return null
      const secretHash = secret === null || secret === '' ? secret : sha256(secret)
      return { id, confidential: id !== 'spa', secretHash, settings: {} } as Client
    },
  },
} as unknown as ServerContext

async function authenticate(
  authorization: string | null,
  form: Record<string, string> = {},
  within: ServerContext = context,
): Promise<string> {
  const request = { header: () => authorization } as unknown as HttpRequest
  const params = new Map(Object.entries(form))
  return (await authenticateClient(request, params, within)).id
}

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`

describe('authenticateClient', () => {
  it.each([
    ['a secret in the body', null, { client_id: 'shop', client_secret: 'tgs_secret' }, 'shop'],
    ['a secret in a Basic header', basic('shop:tgs_secret'), {}, 'shop'],
    [
      'Basic with the scheme in mixed case',
      basic('shop:tgs_secret').replace('Basic', 'bAsIc'),
      {},
      'shop',
    ],
    [
      'Basic with the same client_id in the body',
      basic('shop:tgs_secret'),
      { client_id: 'shop' },
      'shop',
    ],
    ['Basic with a form-encoded id and secret', basic('odd+id:a%3Ab%25%2B%C3%BC'), {}, 'odd id'],
    ['a client_id without a secret for a public client', null, { client_id: 'spa' }, 'spa'],
    ['Basic without a secret for a public client', basic('spa:'), {}, 'spa'],
  ])('accepts %s', async (_what, authorization, form, id) => {
    expect(await authenticate(authorization, form)).toBe(id)
  })

  it.each([
    ['a request without credentials', null, {}],
    ['an unknown client', null, { client_id: 'nobody', client_secret: 'tgs_secret' }],
    ['a confidential client without a secret', null, { client_id: 'shop' }],
    ['a wrong secret', null, { client_id: 'shop', client_secret: 'tgs_secreT' }],
    ['a truncated secret', null, { client_id: 'shop', client_secret: 'tgs_secre' }],
    ['a secret for a public client', null, { client_id: 'spa', client_secret: 'x' }],
    ['Basic with a wrong secret', basic('shop:x'), {}],
    ['Basic without a colon', basic('shop'), {}],
    ['Basic without an id', basic(':tgs_secret'), {}],
    ['Basic with a broken escape', basic('shop:%zz'), {}],
    ['Basic that is not base64', 'Basic %%%', {}],
    ['Basic twice', `${basic('shop:tgs_secret')}, ${basic('shop:tgs_secret')}`, {}],
    [
      'Basic with a different client_id in the body',
      basic('shop:tgs_secret'),
      { client_id: 'spa' },
    ],
    ['no secret for a confidential client whose hash was lost', null, { client_id: 'hash lost' }],
    [
      'any secret for a confidential client whose hash was lost',
      null,
      { client_id: 'hash lost', client_secret: 'x' },
    ],
    [
      'no secret for a confidential client whose hash was emptied',
      null,
      { client_id: 'hash emptied' },
    ],
    [
      'Basic without a secret for a confidential client whose hash was emptied',
      basic('hash emptied:'),
      {},
    ],
    ['a scheme other than Basic', 'Bearer abc', { client_id: 'spa' }],
    ['an empty header', '', { client_id: 'spa' }],
  ])('rejects %s', async (_what, authorization, form) => {
    await expect(authenticate(authorization, form)).rejects.toMatchObject({
      code: 'invalid_client',
      status: 401,
    })
  })

  it.each([
    ['a valid secret in the body', null, { client_id: 'shop', client_secret: 'tgs_secret' }],
    ['a valid secret in a Basic header', basic('shop:tgs_secret'), {}],
    ['a public client', null, { client_id: 'spa' }],
  ])(
    'rejects %s if the client must authenticate by a method that a feature adds',
    async (_what, authorization, form) => {
      const exclusiveAuthentication = { methods: ['private_key_jwt'] }
      const features = { authenticators: [exclusiveAuthentication], exclusiveAuthentication }
      const within = { ...context, features } as unknown as ServerContext
      await expect(authenticate(authorization, form, within)).rejects.toMatchObject({
        code: 'invalid_client',
        status: 401,
        message: 'Clients must authenticate with a client_assertion at this server',
      })
    },
  )

  it('rejects a request with credentials both in the Authorization header and in the body', async () => {
    const body = { client_id: 'shop', client_secret: 'tgs_secret' }
    await expect(authenticate(basic('shop:tgs_secret'), body)).rejects.toMatchObject({
      code: 'invalid_request',
    })
  })

  it.each([
    [basic('shop:x'), 'Basic realm="Tollgate", charset="UTF-8"'],
    [null, undefined],
  ])(
    'rejects the Authorization header %j with the WWW-Authenticate challenge %j',
    async (authorization, challenge) => {
      const refused = await authenticate(authorization, { client_id: 'shop' }).catch(
        (error) => error,
      )
      expect(refused.headers()['www-authenticate']).toBe(challenge)
    },
  )
})
