import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from './support.ts'

const PASSWORD = 'correct horse'

let service: TestService
beforeAll(async () => {
  service = await startTestService({
    settings: { defaultScopes: ['check-status'], accessTokensExpireIn: '5m' },
    environment: { TOLLGATE_AUDIENCE: 'https://shop.example.com' },
  })
})
afterAll(() => service.stop())

async function issue(from: TestService) {
  const email = 'ada@example.com'
  await from.users.create({ email, password: PASSWORD })
  const { id = '', secret } = from.demo?.clients.password ?? {}
  const response = await fetch(`${from.url}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'password',
      client_id: id,
      client_secret: secret ?? '',
      username: email,
      password: PASSWORD,
    }),
  })
  return (await response.json()) as { access_token: string; expires_in: number; scope: string }
}

const read = (url: string, token: string) =>
  fetch(url, { headers: { authorization: `Bearer ${token}` } })

describe('settings of tokens', () => {
  it('grant the default scopes to a request that names none, and set the audience', async () => {
    const { access_token: token, expires_in, scope } = await issue(service)
    expect([scope, expires_in]).toEqual(['check-status', 300])
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    expect(claims.aud).toBe('https://shop.example.com')
    expect((await read(`${service.url}/api/orders/status`, token)).status).toBe(200)
    expect((await read(`${service.url}/api/orders`, token)).status).toBe(403)
  })

  it('make access tokens opaque, which the API of the service accepts', async () => {
    const opaque = await startTestService({
      environment: {
        TOLLGATE_ACCESS_TOKEN_FORMAT: 'opaque',
        TOLLGATE_DEFAULT_SCOPES: 'check-status',
      },
    })
    const { access_token: token } = await issue(opaque)
    expect(token).toMatch(/^tga_/)
    expect((await read(`${opaque.url}/api/user`, token)).status).toBe(200)
    await opaque.stop()
  })
})
