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
): Promise<string> {
  const request = { header: () => authorization } as unknown as HttpRequest
  const params = new Map(Object.entries(form))
  return (await authenticateClient(request, params, context)).id
}

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`

describe('authenticateClient', () => {
  it.each([
    ['the body', null, { client_id: 'shop', client_secret: 'tgs_secret' }, 'shop'],
    ['Basic', basic('shop:tgs_secret'), {}, 'shop'],
    ['Basic, any case', basic('shop:tgs_secret').replace('Basic', 'bAsIc'), {}, 'shop'],
    ['Basic, with its own id in the body', basic('shop:tgs_secret'), { client_id: 'shop' }, 'shop'],
    ['Basic, form-encoded halves', basic('odd+id:a%3Ab%25%2B%C3%BC'), {}, 'odd id'],
    ['its name alone, when public', null, { client_id: 'spa' }, 'spa'],
    ['Basic with no secret, when public', basic('spa:'), {}, 'spa'],
  ])('takes %s', async (_what, authorization, form, id) => {
    expect(await authenticate(authorization, form)).toBe(id)
  })

  it.each([
    ['nothing', null, {}],
    ['an unknown client', null, { client_id: 'nobody', client_secret: 'tgs_secret' }],
    ['no secret', null, { client_id: 'shop' }],
    ['a wrong secret', null, { client_id: 'shop', client_secret: 'tgs_secreT' }],
    ['a secret cut short', null, { client_id: 'shop', client_secret: 'tgs_secre' }],
    ['a secret for a public client', null, { client_id: 'spa', client_secret: 'x' }],
    ['Basic with a wrong secret', basic('shop:x'), {}],
    ['Basic with no colon', basic('shop'), {}],
    ['Basic with no id', basic(':tgs_secret'), {}],
    ['Basic with a broken escape', basic('shop:%zz'), {}],
    ['Basic that is not base64', 'Basic %%%', {}],
    ['Basic twice', `${basic('shop:tgs_secret')}, ${basic('shop:tgs_secret')}`, {}],
    ['Basic of one client, the name of another', basic('shop:tgs_secret'), { client_id: 'spa' }],
    ['its name alone, when its hash was lost', null, { client_id: 'hash lost' }],
    ['any secret, when its hash was lost', null, { client_id: 'hash lost', client_secret: 'x' }],
    ['its name alone, when its hash was emptied', null, { client_id: 'hash emptied' }],
    ['Basic with no secret, when its hash was emptied', basic('hash emptied:'), {}],
    ['another scheme', 'Bearer abc', { client_id: 'spa' }],
    ['an empty header', '', { client_id: 'spa' }],
  ])('refuses %s', async (_what, authorization, form) => {
    await expect(authenticate(authorization, form)).rejects.toMatchObject({
      code: 'invalid_client',
      status: 401,
    })
  })

  it('refuses two ways at once', async () => {
    const body = { client_id: 'shop', client_secret: 'tgs_secret' }
    await expect(authenticate(basic('shop:tgs_secret'), body)).rejects.toMatchObject({
      code: 'invalid_request',
    })
  })

  it.each([
    [basic('shop:x'), 'Basic realm="Tollgate", charset="UTF-8"'],
    [null, undefined],
  ])('answers %s with the challenge %s', async (authorization, challenge) => {
    const refused = await authenticate(authorization, { client_id: 'shop' }).catch((error) => error)
    expect(refused.headers()['www-authenticate']).toBe(challenge)
  })
})
