import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createAuthorizationServer, password, refreshToken } from '../../src/index.ts'
import { createClient, runCodeFlow, SECRET, startServer, type TestServer } from '../support.ts'

/** Two servers with different issuers, one secret, and users with the same ids. */
let shop: TestServer
let bank: TestServer
beforeEach(async () => {
  shop = await startServer({ issuer: 'http://localhost:4998' })
  bank = await startServer({ issuer: 'http://localhost:4997' })
})
afterEach(async () => {
  await shop.close()
  await bank.close()
})

async function statusOf(server: Pick<TestServer, 'oauth'>, credentials: object): Promise<number> {
  const nothing = { authorization: null, cookie: null, csrfToken: null }
  try {
    await server.oauth.guard.authenticate('api', { ...nothing, ...credentials })
    return 200
  } catch (error) {
    return server.oauth.guard.refusal(error).status
  }
}

describe('two servers with the same secret (threat G6)', () => {
  it("reject each other's cookies of cookie mode", async () => {
    const ofShop = await shop.cookieMode('ada')
    const ofBank = await bank.cookieMode('ada')
    expect(await statusOf(shop, ofShop)).toBe(200)
    expect(await statusOf(bank, ofBank)).toBe(200)
    expect(await statusOf(bank, ofShop)).toBe(401)
    expect(await statusOf(shop, ofBank)).toBe(401)
  })

  it("reject each other's CSRF tokens, even for the same person", async () => {
    const ofShop = await shop.cookieMode('ada')
    const ofBank = await bank.cookieMode('ada')
    expect(ofShop.csrfToken).not.toBe(ofBank.csrfToken)
    expect(await statusOf(bank, { ...ofBank, csrfToken: ofShop.csrfToken })).toBe(401)
  })

  it("reject each other's access tokens, refresh tokens and codes (threat T2)", async () => {
    const [inShop, inBank] = [await createClient(shop), await createClient(bank)]
    const tokens = await runCodeFlow(shop, inShop)
    await runCodeFlow(bank, inBank)
    expect(await statusOf(bank, { authorization: `Bearer ${tokens.access_token}` })).toBe(401)
    const credentials = { client_id: inBank.id, client_secret: inBank.secret }
    const form = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token }
    expect((await bank.post('/oauth/token', { ...credentials, ...form })).status).toBe(400)
  })

  it("reject each other's opaque tokens, even if they share a database (threat T14)", async () => {
    const shared = {
      secret: SECRET,
      users: shop.users,
      database: shop.database,
      grants: [password(), refreshToken()],
      clock: shop.clock,
      accessTokenFormat: 'opaque',
    } as const
    const one = createAuthorizationServer({ ...shared, issuer: shop.url })
    const other = createAuthorizationServer({ ...shared, issuer: 'http://localhost:4996' })
    try {
      const { accessToken } = await one.tokens.createPersonal({ userId: 'ada', name: 'x' })
      const authorization = `Bearer ${accessToken}`
      expect(await statusOf({ oauth: one as TestServer['oauth'] }, { authorization })).toBe(200)
      expect(await statusOf({ oauth: other as TestServer['oauth'] }, { authorization })).toBe(401)
    } finally {
      one.close()
      other.close()
    }
  })
})
