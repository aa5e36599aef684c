import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dpop } from '../../src/index.ts'
import { createClient, startServer, type TestServer } from '../support.ts'
import { askByPassword, type KeyHolderKeys, makeProof, newHolder, tokenProof } from './support.ts'

let server: TestServer
let holder: KeyHolderKeys
let client: { id: string; secret: string }
beforeAll(async () => {
  server = await startServer({ features: [dpop({ nonces: true })] })
  holder = await newHolder()
  client = await createClient(server, { confidential: false, grants: ['password'] })
})
afterAll(() => server.close())

const ask = async (nonce: string | undefined) =>
  askByPassword(server, client, await tokenProof(server, holder, { claims: { nonce } }))

/** The nonce in the server's response to a request without one. */
async function nonceOf(): Promise<string> {
  const reply = await ask(undefined)
  expect(reply.status).toBe(400)
  expect(await reply.json()).toMatchObject({ error: 'use_dpop_nonce' })
  return reply.headers.get('dpop-nonce') ?? ''
}

describe('DPoP nonces of the server', () => {
  it('are required by the token endpoint, which returns a nonce in its error response and then accepts it', async () => {
    const nonce = await nonceOf()
    const reply = await ask(nonce)
    expect(reply.status).toBe(200)
    expect(reply.headers.get('dpop-nonce')).toBe(nonce)
    expect(((await reply.json()) as { token_type: string }).token_type).toBe('DPoP')
  })

  it('change over time, and the previous nonce is still accepted for a while', async () => {
    const first = await nonceOf()
    server.clock.advance({ minutes: 5 })
    const later = await ask(first)
    expect(later.status).toBe(200)
    expect(later.headers.get('dpop-nonce')).not.toBe(first)
    server.clock.advance({ minutes: 5 })
    const tooLate = await ask(first)
    expect(await tooLate.json()).toMatchObject({ error: 'use_dpop_nonce' })
    expect((await ask(tooLate.headers.get('dpop-nonce') ?? '')).status).toBe(200)
  })

  it.each([
    ['made up', () => 'nonce'],
    ['of another time', (good: string) => good.replace(/^\w+/, (slot) => `${slot.slice(0, -1)}z`)],
    ['authenticated with another MAC', (good: string) => `${good.split('.')[0]}.${'A'.repeat(43)}`],
    ['made longer by one character', (good: string) => `${good}A`],
    ['empty', () => ''],
  ])('are rejected if they are %s', async (_what, change) => {
    const reply = await ask(change(await nonceOf()))
    expect(reply.status).toBe(400)
    const { error } = (await reply.json()) as { error: string }
    expect(['use_dpop_nonce', 'invalid_dpop_proof']).toContain(error)
  })

  it('are rejected when another server issued them, even with the same secret', async () => {
    const other = await startServer({
      issuer: 'http://localhost:4998',
      features: [dpop({ nonces: true })],
    })
    const theirs = await createClient(other, { confidential: false, grants: ['password'] })
    other.clock.set(server.clock.now())
    const reply = await askByPassword(other, theirs, await tokenProof(other, holder))
    const foreign = reply.headers.get('dpop-nonce') ?? ''
    expect(foreign).not.toBe('')
    expect(await (await ask(foreign)).json()).toMatchObject({ error: 'use_dpop_nonce' })
    await other.close()
  })

  it('let clients with a wrong clock use their proofs, each proof only once', async () => {
    const at = new Date('2001-01-01T00:00:00Z')
    const claims = { nonce: await nonceOf() }
    const proof = await tokenProof(server, holder, { claims, at })
    expect((await askByPassword(server, client, proof)).status).toBe(200)
    expect((await askByPassword(server, client, proof)).status).toBe(400)
  })

  it('are required by guards in a challenge, and accepted whichever process created them', async () => {
    const nonce = await nonceOf()
    const { access_token: token } = (await (await ask(nonce)).json()) as { access_token: string }
    const other = server.another({ features: [dpop({ nonces: true })] })
    await other.ready()
    const call = async (given: string | undefined) => {
      const url = `${server.url}/orders`
      const at = server.clock.now()
      const proof = await makeProof(holder, { url, token, at, claims: { nonce: given } })
      const credentials = {
        authorization: `DPoP ${token}`,
        cookie: null,
        csrfToken: null,
        dpop: proof,
        method: 'GET',
        path: '/orders',
      }
      return Promise.resolve()
        .then(() => other.guard.authenticate('api', credentials))
        .then(
          () => null,
          (error) => other.guard.refusal(error),
        )
    }
    const refusal = await call(undefined)
    expect(refusal?.status).toBe(401)
    expect(refusal?.headers['www-authenticate']).toMatch(/^DPoP .*error="use_dpop_nonce".*algs="/)
    expect(refusal?.headers['dpop-nonce']).toBe(nonce)
    expect(await call(nonce)).toBeNull()
  })
})
