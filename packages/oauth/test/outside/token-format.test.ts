import { clientCredentials } from '@tollgate/oauth'
import { describe, expect, it, onTestFinished } from 'vitest'
import { sealedTokens } from './sealed-tokens.ts'
import { startServer } from './start-server.ts'

const bearer = (text: unknown) => ({
  authorization: `Bearer ${text}`,
  cookie: null,
  csrfToken: null,
})

async function start(format = sealedTokens(Buffer.alloc(32, 7))) {
  const server = startServer({ accessTokenFormat: format, grants: [clientCredentials()] })
  onTestFinished(() => server.oauth.close())
  const grants = ['client_credentials']
  const { client, secret } = await server.oauth.clients.create({ name: 'Shop', grants })
  const credentials = { client_id: client.id, client_secret: secret ?? '' }
  const form = { ...credentials, grant_type: 'client_credentials', scope: 'read' }
  return { ...server, client, form }
}

describe('a custom token format, written outside the package,', () => {
  it('is used for tokens of clients and read by the guard', async () => {
    const { oauth, client, form, token } = await start()
    const { access_token } = await token(form)
    expect(access_token).toMatch(/^sealed\./)
    const caller = await oauth.guard.authenticate('client', bearer(access_token))
    expect([caller.clientId, caller.tokenCan('read')]).toEqual([client.id, true])
  })

  it('is rejected by the guard if a token was altered or has expired', async () => {
    const { oauth, clock, form, token } = await start()
    const text = String((await token(form)).access_token)
    const attempt = async (given: string) => oauth.guard.authenticate('client', bearer(given))
    // Changes a character that is not the last: some bits of the last one are ignored.
    const altered = text.slice(0, -8) + (text.at(-8) === 'A' ? 'B' : 'A') + text.slice(-7)
    const refused = { code: 'invalid_token' }
    await expect(attempt(altered)).rejects.toMatchObject(refused)
    clock.advance({ years: 2 })
    await expect(attempt(text)).rejects.toMatchObject(refused)
  })

  it('does not accept tokens of the built-in formats', async () => {
    const { oauth } = await start()
    const attempt = async () => oauth.guard.authenticate('client', bearer('a.b.c'))
    await expect(attempt()).rejects.toMatchObject({ code: 'invalid_token' })
  })

  it('causes a server error if it creates a token that does not fit into a header', async () => {
    const format = { ...sealedTokens(Buffer.alloc(32, 7)), encode: () => 'two words' }
    const { form, token } = await start(format)
    expect(await token(form)).toMatchObject({ error: 'server_error' })
  })

  it('is rejected at start-up if it is incomplete', () => {
    expect(() => startServer({ accessTokenFormat: {} as never })).toThrow(/accessTokenFormat/)
  })
})
