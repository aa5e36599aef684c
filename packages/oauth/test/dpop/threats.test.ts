import { createSign, generateKeyPairSync, randomUUID } from 'node:crypto'
import { CompactSign, generateSecret, type JWK, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AuthorizationServer, dpop, type GuardCredentials } from '../../src/index.ts'
import { createClient, startServer, type TestServer, type TestUser } from '../support.ts'
import {
  askByPassword,
  type KeyHolderKeys,
  makeProof,
  newHolder,
  type ProofRequest,
  requestBoundTokens,
  tokenProof,
} from './support.ts'

type Oauth = AuthorizationServer<TestUser>

let server: TestServer
let holder: KeyHolderKeys
let client: { id: string; secret: string }
let token: string
beforeAll(async () => {
  server = await startServer({ features: [dpop()] })
  holder = await newHolder()
  client = await createClient(server, { confidential: false, grants: ['password'] })
  token = (await requestBoundTokens(server, client, holder)).access_token
})
afterAll(() => server.close())

const proofFor = (changes: Partial<ProofRequest> = {}) =>
  makeProof(holder, { url: `${server.url}/orders`, token, at: server.clock.now(), ...changes })

/** Returns the guard's verdict on this proof: `'let in'`, or the error code. */
async function readGuardResult(
  proof: string | null,
  changes: Partial<GuardCredentials> = {},
  oauth: Oauth = server.oauth,
): Promise<string> {
  try {
    await oauth.guard.authenticate('api', {
      authorization: `DPoP ${token}`,
      cookie: null,
      csrfToken: null,
      dpop: proof,
      method: 'GET',
      path: '/orders',
      ...changes,
    })
    return 'let in'
  } catch (error) {
    return (error as { code: string }).code
  }
}

const asked = async (proof: string, on = server) => {
  const reply = await askByPassword(on, client, proof)
  return reply.status === 200 ? 'let in' : ((await reply.json()) as { error: string }).error
}

const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
const payload = () => ({
  jti: randomUUID(),
  htm: 'POST',
  htu: `${server.url}/oauth/token`,
  iat: Math.floor(server.clock.now().getTime() / 1000),
})

describe('a replayed DPoP proof (threat T15)', () => {
  it('is rejected at the token endpoint, also by another process', async () => {
    const proof = await tokenProof(server, holder)
    expect(await asked(proof)).toBe('let in')
    expect(await asked(proof)).toBe('invalid_dpop_proof')
    // A separate feature instance, as another process has.
    const other = server.another({ features: [dpop()] })
    const reply = await other.fetch(
      new Request(`${server.url}/oauth/token`, {
        method: 'POST',
        headers: { dpop: proof },
        body: new URLSearchParams({
          grant_type: 'password',
          client_id: client.id,
          username: 'ada@example.com',
          password: 'correct horse',
        }),
      }),
    )
    expect(await reply.json()).toMatchObject({ error: 'invalid_dpop_proof' })
  })

  it('is rejected at the token endpoint if the requests are concurrent', async () => {
    const proof = await tokenProof(server, holder)
    const all = await Promise.all(Array.from({ length: 8 }, () => asked(proof)))
    expect(all.filter((each) => each === 'let in')).toHaveLength(1)
  })

  it('is rejected at the guards even if another process accepted the first use', async () => {
    const other = server.another({ features: [dpop()] })
    const proof = await proofFor()
    const both = await Promise.all([readGuardResult(proof), readGuardResult(proof, {}, other)])
    expect(both.sort()).toEqual(['invalid_dpop_proof', 'let in'])
    expect(await readGuardResult(await proofFor(), {}, other)).toBe('let in')
  })

  it("is detected only by the process that has seen the proof if guardReplays is 'process'", async () => {
    const [one, two] = [0, 1].map(() =>
      server.another({ features: [dpop({ guardReplays: 'process' })] }),
    )
    const proof = await proofFor()
    expect(await readGuardResult(proof, {}, one)).toBe('let in')
    expect(await readGuardResult(proof, {}, one)).toBe('invalid_dpop_proof')
    expect(await readGuardResult(proof, {}, two)).toBe('let in')
  })

  it('is recognized by its key and jti: proofs of two clients may have the same jti', async () => {
    const other = await newHolder()
    const claims = { jti: 'the same' }
    expect(await asked(await tokenProof(server, holder, { claims }))).toBe('let in')
    expect(await asked(await tokenProof(server, other, { claims }))).toBe('let in')
    expect(await asked(await tokenProof(server, other, { claims }))).toBe('invalid_dpop_proof')
  })
})

describe('the URL and method in a DPoP proof', () => {
  it.each([
    ['a query', 'http://localhost:4999/orders?page=1'],
    ['a fragment', 'http://localhost:4999/orders#top'],
    ['capital letters in scheme and host', 'HTTP://LOCALHOST:4999/orders'],
    ['an unnecessary escape', 'http://localhost:4999/%6Frders'],
    ['dot segments', 'http://localhost:4999/a/../orders'],
  ])('are accepted if spelled differently with the same meaning: with %s', async (_what, url) => {
    expect(await readGuardResult(await proofFor({ url }))).toBe('let in')
  })

  it.each([
    ['another path', 'http://localhost:4999/order'],
    ['another case in the path', 'http://localhost:4999/Orders'],
    ['an extra slash', 'http://localhost:4999/orders/'],
    ['another port', 'http://localhost:4998/orders'],
    ['no port', 'http://localhost/orders'],
    ['another scheme', 'https://localhost:4999/orders'],
    ['another host', 'http://localhost.example:4999/orders'],
    ['user info before the host', 'http://ada@localhost:4999/orders'],
    ['only a path', '/orders'],
    ['an escaped slash', 'http://localhost:4999/x%2F..%2Forders'],
    ['nothing', ''],
  ])('are rejected if the URL has %s', async (_what, url) => {
    expect(await readGuardResult(await proofFor({ url }))).toBe('invalid_dpop_proof')
  })

  it('are never compared with the Host header of the caller', async () => {
    const elsewhere = await proofFor({ url: 'https://other.example/orders' })
    expect(await readGuardResult(elsewhere)).toBe('invalid_dpop_proof')
    expect(await readGuardResult(await proofFor(), { path: 'http://localhost:4999/orders' })).toBe(
      'invalid_dpop_proof',
    )
  })

  it('may contain the public URL of an API behind a proxy if that URL is configured', async () => {
    const apiUrls = ['https://api.example.com/v1/']
    const other = server.another({ features: [dpop({ apiUrls })] })
    const url = 'https://api.example.com/v1/orders'
    expect(await readGuardResult(await proofFor({ url }), {}, other)).toBe('let in')
    expect(await readGuardResult(await proofFor({ url }))).toBe('invalid_dpop_proof')
  })

  it('must match exactly: a proof for another method, or for the method in another letter case, is rejected', async () => {
    for (const method of ['POST', 'get', 'HEAD']) {
      expect(await readGuardResult(await proofFor({ method }))).toBe('invalid_dpop_proof')
    }
  })
})

describe('the hash of the access token in a DPoP proof', () => {
  it('must not be the hash of another token, even of a token bound to the same key', async () => {
    const { access_token: other } = await requestBoundTokens(server, client, holder)
    expect(await readGuardResult(await proofFor({ token: other }))).toBe('invalid_dpop_proof')
  })

  it('is required: guards reject a proof without it, such as a proof made for the token endpoint', async () => {
    const proof = await tokenProof(server, holder, {
      url: `${server.url}/orders`,
      method: 'GET',
    })
    expect(await readGuardResult(proof)).toBe('invalid_dpop_proof')
  })

  it('does not help if the proof is signed by a key other than the key of the token', async () => {
    const thief = await newHolder()
    const at = server.clock.now()
    const proof = await makeProof(thief, { url: `${server.url}/orders`, token, at })
    expect(await readGuardResult(proof)).toBe('invalid_token')
    // A rejected proof of another party does not use up anything.
    expect(await readGuardResult(await proofFor())).toBe('let in')
  })
})

describe('the key of a DPoP proof (threat G2)', () => {
  it('must have signed the proof: an unsigned proof is rejected', async () => {
    const header = encode({ alg: 'none', typ: 'dpop+jwt', jwk: holder.publicJwk })
    for (const signature of ['', 'AA']) {
      expect(await asked(`${header}.${encode(payload())}.${signature}`)).toBe('invalid_dpop_proof')
    }
  })

  it('cannot be a symmetric key', async () => {
    const secret = await generateSecret('HS256', { extractable: true })
    const k = Buffer.alloc(32, 7).toString('base64url')
    for (const [key, jwk] of [
      [secret, { kty: 'oct', k }],
      // The public key used as an HMAC secret.
      [new TextEncoder().encode(JSON.stringify(holder.publicJwk)), holder.publicJwk],
    ] as const) {
      const proof = await new SignJWT(payload())
        .setProtectedHeader({ alg: 'HS256', typ: 'dpop+jwt', jwk: jwk as JWK })
        .sign(key)
      expect(await asked(proof)).toBe('invalid_dpop_proof')
    }
  })

  it('must not include its private part', async () => {
    const header = { jwk: holder.privateJwk }
    expect(await asked(await tokenProof(server, holder, { header }))).toBe('invalid_dpop_proof')
  })

  it.each([
    ['none', { jwk: undefined }],
    ['only a key id', { jwk: undefined, kid: 'a key' }],
    ['no JSON object', { jwk: 'key' }],
    ['an unsupported key type', { jwk: { kty: 'OKP', crv: 'Ed25519', x: 'A'.repeat(43) } }],
    [
      'a point that is not on the curve',
      { jwk: { kty: 'EC', crv: 'P-256', x: 'A'.repeat(43), y: 'A'.repeat(43) } },
    ],
  ])('is rejected when it is %s', async (_what, header) => {
    expect(await asked(await tokenProof(server, holder, { header }))).toBe('invalid_dpop_proof')
  })

  it('must have signed each proof, even if earlier proofs of the same key were accepted', async () => {
    const thief = await newHolder()
    const forged = await makeProof(
      { ...thief, publicJwk: holder.publicJwk },
      { url: `${server.url}/oauth/token`, method: 'POST', at: server.clock.now() },
    )
    expect(await asked(forged)).toBe('invalid_dpop_proof')
    const [header, , signature] = (await tokenProof(server, holder)).split('.')
    expect(await asked(`${header}.${encode(payload())}.${signature}`)).toBe('invalid_dpop_proof')
  })

  it('must be long enough', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 })
    const header = { alg: 'RS256', typ: 'dpop+jwt', jwk: publicKey.export({ format: 'jwk' }) }
    const data = `${encode(header)}.${encode(payload())}`
    const signature = createSign('sha256').update(data).sign(privateKey, 'base64url')
    expect(await asked(`${data}.${signature}`)).toBe('invalid_dpop_proof')
  })

  it('must have an algorithm that the server accepts', async () => {
    const only = server.another({ features: [dpop({ algorithms: ['EdDSA'] })] })
    expect(await readGuardResult(await proofFor(), {}, only)).toBe('invalid_dpop_proof')
    expect(() => dpop({ algorithms: ['HS256' as 'ES256'] })).toThrow(TypeError)
    expect(() => dpop({ algorithms: [] })).toThrow(TypeError)
  })

  it.each([
    ['the typ of an access token', { typ: 'at+jwt' }],
    ['no typ', { typ: undefined }],
    ['an unknown critical header', { crit: ['exp'], exp: 1 }],
  ])(
    'does not turn every JWT that it signed into a proof: a JWT with %s is rejected',
    async (_what, header) => {
      const bytes = new TextEncoder().encode(JSON.stringify(payload()))
      const usual = { alg: 'ES256', typ: 'dpop+jwt', jwk: holder.publicJwk }
      const proof = await new CompactSign(bytes)
        .setProtectedHeader({ ...usual, ...header } as typeof usual)
        .sign(holder.privateKey, { crit: { exp: true } })
      expect(await asked(proof)).toBe('invalid_dpop_proof')
    },
  )

  it.each(['jti', 'htm', 'htu', 'iat'])(
    'does not make an incomplete proof valid: a proof without %s is rejected',
    async (name) => {
      for (const value of [undefined, null, {}, name === 'iat' ? 'now' : 7]) {
        const claims = { [name]: value }
        expect(await asked(await tokenProof(server, holder, { claims }))).toBe('invalid_dpop_proof')
      }
    },
  )

  it.each<[string, string?]>([
    ['no text', ''],
    ['x'],
    ['a.b'],
    ['a.b.c'],
    ['a.b.c.d'],
    ['9000 characters', `${'a'.repeat(9000)}.b.c`],
    ['é.b.c'],
  ])(
    'cannot be read from malformed text: %s is rejected without an internal error',
    async (what, text = what) => {
      expect(await readGuardResult(text)).toBe('invalid_dpop_proof')
    },
  )
})

describe('the time of a DPoP proof', () => {
  const madeAfter = (seconds: number) => ({
    at: new Date(server.clock.now().getTime() + seconds * 1000),
  })

  it.each([
    [0, 'let in'],
    [-299, 'let in'],
    [-301, 'invalid_dpop_proof'],
    [59, 'let in'],
    [61, 'invalid_dpop_proof'],
  ])(
    'may differ a little from the server\'s time: a proof made %i seconds from now has the result "%s"',
    async (seconds, expected) => {
      expect(await readGuardResult(await proofFor(madeAfter(seconds)))).toBe(expected)
      expect(await asked(await tokenProof(server, holder, madeAfter(seconds)))).toBe(expected)
    },
  )

  it('does not let a process whose clock is ahead delete the record of a used proof that other processes would still accept', async () => {
    const own = await startServer({ features: [dpop()] })
    try {
      const app = await createClient(own, { grants: ['password'] })
      const proof = await tokenProof(own, holder)
      expect((await askByPassword(own, app, proof)).status).toBe(200)
      own.clock.advance({ seconds: 290 })
      const now = () => new Date(own.clock.now().getTime() + 50_000)
      await own.another({ clock: { now }, features: [dpop()] }).purge()
      const third = own.another({ features: [dpop()] })
      const post: TestServer['post'] = (path, form, headers = {}) =>
        third.fetch(
          new Request(own.url + path, { method: 'POST', body: new URLSearchParams(form), headers }),
        )
      expect((await askByPassword({ ...own, post }, app, proof)).status).toBe(400)
    } finally {
      await own.close()
    }
  })

  it('determines when the stored record of a used proof is deleted', async () => {
    const own = await startServer({ features: [dpop()] })
    const its = await createClient(own, { confidential: false, grants: ['password'] })
    await requestBoundTokens(own, its, holder)
    const rows = () => own.database.kysely.selectFrom('oauth_tickets').selectAll().execute()
    await own.oauth.purge()
    expect(await rows()).toHaveLength(1)
    own.clock.advance({ minutes: 7 })
    await own.oauth.purge()
    expect(await rows()).toEqual([])
    await own.close()
  })
})
