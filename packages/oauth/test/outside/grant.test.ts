import { authorizationCode, type Grant, refreshToken } from '@tollgate/oauth'
import { describe, expect, it, onTestFinished } from 'vitest'
import { oneTimeCode } from './one-time-code.ts'
import { ISSUER, type OutsideServer, startServer } from './start-server.ts'
import { tokenExchange } from './token-exchange.ts'

async function start(...grants: Grant[]) {
  const server = startServer({ grants: [authorizationCode(), refreshToken(), ...grants] })
  onTestFinished(() => server.oauth.close())
  const types = [...grants.map(({ type }) => type), 'refresh_token']
  const { client, secret } = await server.oauth.clients.create({ name: 'Shop', grants: types })
  const credentials = { client_id: client.id, client_secret: secret ?? '' }
  return { ...server, credentials }
}

async function personalToken({ oauth }: OutsideServer, scopes: readonly string[]) {
  return (await oauth.tokens.createPersonal({ userId: 'ada', name: 'mine', scopes })).accessToken
}

const bearer = (text: unknown) => ({
  authorization: `Bearer ${text}`,
  cookie: null,
  csrfToken: null,
})

describe('a custom grant that exchanges tokens, written outside the package,', () => {
  const grant_type = tokenExchange().type

  it('issues a narrower token with additional response members', async () => {
    const server = await start(tokenExchange())
    const subject_token = await personalToken(server, ['read', 'write'])
    const form = { ...server.credentials, grant_type, subject_token, scope: 'read' }
    const response = await server.token(form)
    expect(response).toMatchObject({
      token_type: 'Bearer',
      scope: 'read',
      issued_token_type: expect.stringContaining('access_token'),
    })
    expect(response).not.toHaveProperty('refresh_token')
    const user = await server.oauth.guard.authenticate('api', bearer(response.access_token))
    expect([user.id, user.tokenCan('read'), user.tokenCan('write')]).toEqual(['ada', true, false])
  })

  it('cannot be used to gain scopes', async () => {
    const server = await start(tokenExchange())
    const subject_token = await personalToken(server, ['read'])
    const form = { ...server.credentials, grant_type, subject_token, scope: 'write' }
    expect(await server.token(form)).toMatchObject({ error: 'invalid_scope' })
  })

  it('issues no token that expires later than the original', async () => {
    const server = await start(tokenExchange())
    const subject_token = await personalToken(server, ['read'])
    server.clock.advance({ days: 364 })
    const form = { ...server.credentials, grant_type, subject_token }
    expect(await server.token(form)).toMatchObject({ expires_in: 24 * 3600 })
    server.clock.advance({ days: 1 })
    expect(await server.token(form)).toMatchObject({ error: 'invalid_grant' })
  })

  it('is available only to clients that have it, and is listed in the metadata', async () => {
    const server = await start(tokenExchange())
    const { client, secret } = await server.oauth.clients.create({
      name: 'Other',
      grants: ['refresh_token'],
    })
    const other = { client_id: client.id, client_secret: secret ?? '' }
    const form = { ...other, grant_type, subject_token: 'x' }
    expect(await server.token(form)).toMatchObject({ error: 'unauthorized_client' })
    const address = `${ISSUER}/.well-known/oauth-authorization-server`
    const metadata = await (await server.oauth.fetch(new Request(address))).json()
    expect(metadata.grant_types_supported).toContain(grant_type)
  })

  it('cannot be given to a client on a server that does not list it', async () => {
    const { oauth } = await start()
    await expect(
      oauth.clients.create({ name: 'Shop', grants: [grant_type] }),
    ).rejects.toMatchObject({ code: 'validation_failed' })
  })
})

describe('a custom grant that identifies the user itself, written outside the package,', () => {
  const grant_type = oneTimeCode({ redeem: async () => null }).type

  it('can issue tokens with refresh tokens', async () => {
    const server = await start(oneTimeCode({ redeem: async () => 'ada' }))
    const { credentials } = server
    const first = await server.token({ ...credentials, grant_type, one_time_code: '1' })
    const refresh_token = String(first.refresh_token)
    const form = { ...credentials, grant_type: 'refresh_token', refresh_token }
    expect(await server.token(form)).toMatchObject({ token_type: 'Bearer' })
  })

  it('issues no token for a user who has been deleted', async () => {
    const server = await start(oneTimeCode({ redeem: async () => 'eve' }))
    const form = { ...server.credentials, grant_type, one_time_code: '1' }
    expect(await server.token(form)).toMatchObject({ error: 'invalid_grant' })
  })

  it('issues no token for a user who is signed out everywhere during the exchange', async () => {
    const signOut = { now: async () => {} }
    const server = await start(
      oneTimeCode({
        redeem: async () => {
          await signOut.now()
          return 'ada'
        },
      }),
    )
    signOut.now = () => server.oauth.revokeUser('ada')
    const form = { ...server.credentials, grant_type, one_time_code: '1' }
    expect(await server.token(form)).toMatchObject({ error: 'invalid_grant' })
    expect(await server.oauth.tokens.listByUser('ada')).toEqual([])
  })
})
