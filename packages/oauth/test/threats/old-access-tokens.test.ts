import { describe, expect, it, onTestFinished } from 'vitest'
import { authorizationCode, password, refreshToken } from '../../src/index.ts'
import { startServer, type TestServer } from '../support.ts'

async function start(endsOldAccessToken: boolean) {
  const server = await startServer({
    grants: [authorizationCode(), password(), refreshToken({ endsOldAccessToken })],
  })
  onTestFinished(() => server.close())
  const { client, secret } = await server.oauth.clients.create({
    name: 'An application',
    grants: ['password', 'refresh_token'],
  })
  const credentials = { client_id: client.id, client_secret: secret ?? '' }
  const post = async (form: Record<string, string>) =>
    (await server.post('/oauth/token', { ...credentials, ...form })).json()
  const refresh = (refresh_token: string) => post({ grant_type: 'refresh_token', refresh_token })
  const first = await post({
    grant_type: 'password',
    username: 'ada@example.com',
    password: 'correct horse',
  })
  return { server, credentials, refresh, first }
}

async function isAccepted(oauth: TestServer['oauth'], token: string): Promise<boolean> {
  const credentials = { authorization: `Bearer ${token}`, cookie: null, csrfToken: null }
  try {
    await oauth.guard.authenticate('api', credentials)
    return true
  } catch {
    return false
  }
}

describe('an access token of a grant whose refresh token has been used', () => {
  it('stays valid until it expires, unless the `endsOldAccessToken` option is set', async () => {
    const { server, refresh, first } = await start(false)
    const second = await refresh(first.refresh_token)
    expect(await isAccepted(server.oauth, first.access_token)).toBe(true)
    expect(await isAccepted(server.oauth, second.access_token)).toBe(true)
  })

  it('becomes invalid with the `endsOldAccessToken` option, in every process, for guards and introspection', async () => {
    const { server, credentials, refresh, first } = await start(true)
    const other = server.another()
    expect(await isAccepted(other, first.access_token)).toBe(true)
    const second = await refresh(first.refresh_token)
    expect(await isAccepted(server.oauth, first.access_token)).toBe(false)
    await expect.poll(() => isAccepted(other, first.access_token)).toBe(false)
    const introspection = await server.post('/oauth/introspect', {
      ...credentials,
      token: first.access_token,
    })
    expect(await introspection.json()).toEqual({ active: false })
    for (const oauth of [server.oauth, other]) {
      expect(await isAccepted(oauth, second.access_token)).toBe(true)
    }
  })

  it('becomes invalid even if the response to the refresh was lost, and repeating the refresh returns a valid token', async () => {
    const { server, refresh, first } = await start(true)
    await refresh(first.refresh_token)
    const repeated = await refresh(first.refresh_token)
    expect(await isAccepted(server.oauth, first.access_token)).toBe(false)
    expect(await isAccepted(server.oauth, repeated.access_token)).toBe(true)
  })

  it('stays valid if the refresh was refused', async () => {
    const { server, refresh, first } = await start(true)
    const { client, secret } = await server.oauth.clients.create({
      name: 'Another',
      grants: ['password', 'refresh_token'],
    })
    const stolen = await server.post('/oauth/token', {
      grant_type: 'refresh_token',
      refresh_token: first.refresh_token,
      client_id: client.id,
      client_secret: secret ?? '',
    })
    expect(stolen.status).toBe(400)
    expect(await isAccepted(server.oauth, first.access_token)).toBe(true)
    expect((await refresh(first.refresh_token)).access_token).toBeTruthy()
  })
})
