import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jwtClientAuthentication } from '../../src/index.ts'
import { createClient, SECRET, startServer, type TestServer } from '../support.ts'
import { assertingClients, GRANTS, REFUSED, startAsserting } from './asserting-clients.ts'
import { ASSERTION_TYPE, assertionClaims, callWith, sign } from './support.ts'

let server: TestServer
beforeAll(async () => {
  server = await startAsserting()
})
afterAll(() => server.close())

const { newClient, problemWith } = assertingClients(() => server)

describe('client_secret_jwt', () => {
  const HS256 = { alg: 'HS256' }
  const newSharing = () => newClient({ token_endpoint_auth_method: 'client_secret_jwt' })
  const bytes = (text: string) => new TextEncoder().encode(text)

  it('authenticates a client without sending the secret', async () => {
    const { id, secret } = await newSharing()
    const proof = await sign(assertionClaims(server, id), bytes(secret), HS256)
    expect((await callWith(server, proof)).status).toBe(200)
    expect(await problemWith(proof)).toMatchObject(REFUSED)
  })

  it('is refused if signed with another secret, or after the secret was rotated', async () => {
    const { id, secret } = await newSharing()
    const wrong = await sign(assertionClaims(server, id), bytes(`${secret}x`), HS256)
    expect(await problemWith(wrong)).toMatchObject(REFUSED)
    const rotated = await server.oauth.clients.rotateSecret(id)
    const old = await sign(assertionClaims(server, id), bytes(secret), HS256)
    expect(await problemWith(old)).toMatchObject(REFUSED)
    const now = await sign(assertionClaims(server, id), bytes(rotated.secret ?? ''), HS256)
    expect((await callWith(server, now)).status).toBe(200)
  })

  it('stores the secret encrypted, and only for clients with this method', async () => {
    const { id, secret } = await newSharing()
    const sharing = await server.oauth.clients.find(id)
    expect(sharing?.settings.sealed_secret).toMatch(/^[\w-]+\.\.[\w-]+\.[\w-]+\.[\w-]+$/)
    expect(JSON.stringify(sharing)).not.toContain(secret)
    const plain = await server.oauth.clients.find((await createClient(server)).id)
    expect(plain?.settings).toEqual({})
  })

  it("keeps working after the server's secret has changed", async () => {
    const own = await startServer({ features: [jwtClientAuthentication({ sharedSecrets: true })] })
    try {
      const { id, secret } = await createClient(own, {
        grants: [...GRANTS],
        settings: { token_endpoint_auth_method: 'client_secret_jwt' },
      })
      const next = 'another secret of more than thirty-two characters'
      const both = own.another({ secret: [next, SECRET] })
      expect(await both.keys.toReseal()).toBeGreaterThan(0)
      await both.keys.reseal()
      expect(await both.keys.toReseal()).toBe(0)
      const after = own.another({ secret: next })
      const proof = await sign(assertionClaims(own, id), bytes(secret), HS256)
      const body = new URLSearchParams({
        grant_type: 'client_credentials',
        client_assertion_type: ASSERTION_TYPE,
        client_assertion: proof,
      })
      const request = new Request(`${own.url}/oauth/token`, { method: 'POST', body })
      expect((await after.fetch(request)).status).toBe(200)
    } finally {
      await own.close()
    }
  })
})
