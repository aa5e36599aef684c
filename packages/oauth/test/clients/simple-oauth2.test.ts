import {
  AuthorizationCode,
  ClientCredentials,
  type ModuleOptions,
  ResourceOwnerPassword,
} from 'simple-oauth2'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type GrantType, systemClock } from '../../src/index.ts'
import { createClient, type ListeningServer, listen, REDIRECT } from '../support.ts'
import { decideInBrowser } from './browser.ts'

let server: ListeningServer
beforeEach(async () => {
  server = await listen({ clock: systemClock })
})
afterEach(() => server.close())

type Where = NonNullable<ModuleOptions['options']>['authorizationMethod']

async function configure(grants: GrantType[], where: Where = 'header'): Promise<ModuleOptions> {
  return {
    client: await createClient(server, { grants }),
    auth: {
      tokenHost: server.url,
      tokenPath: '/oauth/token',
      revokePath: '/oauth/revoke',
      // The library rejects this option for clients that never redirect people.
      ...(grants.includes('authorization_code') ? { authorizePath: '/oauth/authorize' } : {}),
    },
    options: { authorizationMethod: where },
  }
}

async function signIn(client: AuthorizationCode, scope = 'place-orders check-status') {
  const url = client.authorizeURL({ redirect_uri: REDIRECT, scope, state: 'a state' })
  const callback = await decideInBrowser(url)
  expect(callback.searchParams.get('state')).toBe('a state')
  return client.getToken({
    code: callback.searchParams.get('code') ?? '',
    redirect_uri: REDIRECT,
  })
}

async function userOf(accessToken: unknown): Promise<{ id: string; scopes: readonly string[] }> {
  return server.oauth.guard.authenticate('api', {
    authorization: `Bearer ${accessToken}`,
    cookie: null,
    csrfToken: null,
  })
}

const BY_CODE: GrantType[] = ['authorization_code', 'refresh_token']

describe('simple-oauth2 as the client', () => {
  it.each(['header', 'body'] as const)(
    'signs a person in with an authorization code, sending its client secret in the %s',
    async (where) => {
      const client = new AuthorizationCode(await configure(BY_CODE, where))
      const { token } = await signIn(client)
      expect(token).toMatchObject({
        token_type: 'Bearer',
        scope: 'place-orders check-status',
        refresh_token: expect.any(String),
      })
      expect(await userOf(token.access_token)).toMatchObject({ id: 'ada' })
    },
  )

  it('signs a person in with the password grant', async () => {
    const client = new ResourceOwnerPassword(await configure(['password', 'refresh_token']))
    const accessToken = await client.getToken({
      username: 'bob@example.com',
      password: 'battery staple',
      scope: ['place-orders'],
    })
    expect(await userOf(accessToken.token.access_token)).toMatchObject({
      id: 'bob',
      scopes: ['place-orders'],
    })
    const refreshed = await accessToken.refresh()
    expect(await userOf(refreshed.token.access_token)).toMatchObject({ id: 'bob' })
  })

  it('receives 400 invalid_grant for a wrong password', async () => {
    const client = new ResourceOwnerPassword(await configure(['password']))
    const wrong = { username: 'bob@example.com', password: 'wrong', scope: '' }
    await expect(client.getToken(wrong)).rejects.toMatchObject({
      output: { statusCode: 400 },
      data: { payload: { error: 'invalid_grant' } },
    })
  })

  it('gets a token for itself with client credentials', async () => {
    const client = new ClientCredentials(await configure(['client_credentials']))
    const { token } = await client.getToken({ scope: 'check-status' })
    expect(token).toMatchObject({ token_type: 'Bearer', scope: 'check-status' })
    expect(token).not.toHaveProperty('refresh_token')
  })

  it('refreshes, and can request fewer scopes', async () => {
    const client = new AuthorizationCode(await configure(BY_CODE))
    const first = await signIn(client)
    expect(first.expired()).toBe(false)
    const second = await first.refresh()
    expect(second.token).toMatchObject({ scope: 'place-orders check-status' })
    const third = await second.refresh({ scope: ['check-status'] })
    expect(await userOf(third.token.access_token)).toMatchObject({ scopes: ['check-status'] })
  })

  it('loads a stored token and refreshes it', async () => {
    const client = new AuthorizationCode(await configure(BY_CODE))
    const stored = JSON.stringify(await signIn(client))
    const refreshed = await client.createToken(JSON.parse(stored)).refresh()
    expect(await userOf(refreshed.token.access_token)).toMatchObject({ id: 'ada' })
  })

  it.each(['access_token', 'refresh_token'] as const)(
    'revokes both tokens by sending only the %s',
    async (which) => {
      const client = new AuthorizationCode(await configure(BY_CODE))
      const accessToken = await signIn(client)
      await accessToken.revoke(which)
      await expect(userOf(accessToken.token.access_token)).rejects.toMatchObject({
        code: 'invalid_token',
      })
      await expect(accessToken.refresh()).rejects.toMatchObject({
        data: { payload: { error: 'invalid_grant' } },
      })
    },
  )

  it('revokes both tokens, one after the other', async () => {
    const client = new AuthorizationCode(await configure(BY_CODE))
    const accessToken = await signIn(client)
    await accessToken.revokeAll()
    await expect(accessToken.refresh()).rejects.toMatchObject({ output: { statusCode: 400 } })
  })
})
