import { afterEach, beforeEach, expect, it } from 'vitest'
import {
  createTestDatabase,
  type TestDatabase,
} from '../../../../test-support/create-test-database.ts'
import {
  createClient,
  issue,
  killAll,
  type Service,
  startService,
  type TestClient,
  tokenCall,
} from './service.ts'

const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'

let test: TestDatabase
let a: Service
let b: Service
beforeEach(async () => {
  test = await createTestDatabase()
  a = await startService(test.url)
  b = await startService(test.url)
})
afterEach(async () => {
  await killAll()
  await test.drop()
})

async function exchange(at: Service, client: TestClient, subject: string): Promise<string> {
  const { status, body } = await at.send(
    tokenCall(client, {
      grant_type: TOKEN_EXCHANGE,
      subject_token: subject,
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    }),
  )
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body.access_token ?? ''
}

it('revoking a token in one process also revokes the tokens that another process exchanged from it (threat T16)', async () => {
  const shop = await createClient(a)
  const service = await createClient(a, { grants: [TOKEN_EXCHANGE] })
  const given = await issue(a, shop)
  const child = await exchange(b, service, given.access_token)
  const grandchild = await exchange(b, service, child)
  expect(await b.guard(grandchild)).toBe(200)
  const form = { client_id: shop.id, client_secret: shop.secret, token: given.access_token }
  expect((await a.send({ path: '/oauth/revoke', form })).status).toBe(200)
  for (const token of [child, grandchild]) {
    expect(await a.guard(token)).toBe(401)
    await expect.poll(() => b.guard(token)).toBe(401)
  }
})
