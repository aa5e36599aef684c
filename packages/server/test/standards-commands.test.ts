import { writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createCertificate } from '../../../test-support/self-signed.ts'
import { checkStandards } from '../src/cli/doctor/standards.ts'
import { readEnvironment } from '../src/config/environment.ts'
import { parseSettings, type SettingsInput } from '../src/config/settings.ts'
import { runCli } from '../src/program.ts'
import { startTestService, type TestService } from './support.ts'

const CALLBACK = 'https://agent.example/callback'
const SALT = 'a salt of more than thirty-two characters'
const PRODUCTION = {
  NODE_ENV: 'production',
  DATABASE_URL: 'postgres://db/app',
  TOLLGATE_SECRET: 'kS9x1QfVbT7mZp3Lr8Wc2Yh5Ng0Ju4Da',
}

let service: TestService
beforeAll(async () => {
  service = await startTestService({ options: { keepDemo: true } })
})
afterAll(() => service.stop())

async function tollgate(args: readonly string[], env: Record<string, string> = {}) {
  const out: string[] = []
  const environment = {
    DATABASE_URL: service.databaseUrl,
    TOLLGATE_DATA_DIR: service.dataDir,
    TOLLGATE_URL: service.url,
    ...env,
  }
  const code = await runCli(args, environment, {
    stdout: { write: (text) => void out.push(text) },
    stderr: { write: (text) => void out.push(text) },
  })
  const stdout = out.join('')
  return { code, stdout, json: () => JSON.parse(stdout) }
}

async function register(): Promise<string> {
  const reply = await fetch(`${service.url}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'Some agent', redirect_uris: [CALLBACK] }),
  })
  return ((await reply.json()) as { client_id: string }).client_id
}

describe('a client that registered itself', () => {
  it('is marked as self-registered in the list of clients, and can be verified and revoked there', async () => {
    const id = await register()
    const listed = async () => {
      const all = (await tollgate(['client', 'list', '--json'])).json() as { id: string }[]
      return all.find((each) => each.id === id)
    }
    const origin = { by: 'registration', host: 'agent.example', verified: false }
    expect(await listed()).toMatchObject({ name: 'Some agent', self_registered: origin })
    const before = await tollgate(['client', 'list'])
    expect(before.stdout).toContain('(registered itself, agent.example, unverified)')
    const verified = await tollgate(['client', 'verify', id, '--json'])
    expect([verified.code, verified.json()]).toEqual([
      0,
      { id, name: 'Some agent', host: 'agent.example', verified: true },
    ])
    expect(await listed()).toMatchObject({ self_registered: { ...origin, verified: true } })
    expect((await tollgate(['client', 'revoke', id])).code).toBe(0)
    expect(await listed()).toMatchObject({ revoked: true })
    expect((await tollgate(['client', 'verify', id])).code).toBe(2)
  })

  it('is accepted by tollgate client verify, as are clients of users but no others', async () => {
    const { client } = await service.oauth.clients.create({ name: 'Own', redirect: CALLBACK })
    const { code, stdout } = await tollgate(['client', 'verify', client.id])
    expect([code, stdout]).toEqual([2, expect.stringContaining('was registered by the operator')])
  })

  it('can be named in commands by the URL of its metadata document', async () => {
    const { cert, key } = createCertificate(['localhost'], ['127.0.0.1'])
    const web = createServer({ cert, key }, (request, response) => {
      const client_id = `https://${request.headers.host}/client.json`
      const redirect_uris = [`https://${request.headers.host}/callback`]
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ client_id, client_name: 'Notes', redirect_uris }))
    })
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
    const host = `127.0.0.1:${(web.address() as AddressInfo).port}`
    const own = await startTestService({
      settings: {
        selfRegistered: { documents: true, scopes: ['place-orders'] },
        outgoing: { privateAddresses: ['127.0.0.1'], certificates: [cert] },
      },
      options: { keepDemo: true },
    })
    const env = {
      DATABASE_URL: own.databaseUrl,
      TOLLGATE_DATA_DIR: own.dataDir,
      TOLLGATE_URL: own.url,
    }
    try {
      const address = `https://${host}/client.json`
      const unknown = await tollgate(['client', 'verify', address], env)
      expect([unknown.code, unknown.stdout]).toEqual([2, expect.stringContaining('no such client')])
      const challenge = { code_challenge: 'c'.repeat(43), code_challenge_method: 'S256' }
      const query = {
        client_id: address,
        response_type: 'code',
        scope: 'place-orders',
        ...challenge,
      }
      await fetch(`${own.url}/oauth/authorize?${new URLSearchParams(query)}`, {
        redirect: 'manual',
      })
      const verified = await tollgate(['client', 'verify', address, '--json'], env)
      expect(verified.json()).toEqual({
        id: expect.stringMatching(/^cimd_/),
        name: 'Notes',
        host,
        verified: true,
      })
      expect((await tollgate(['client', 'revoke', address], env)).code).toBe(0)
      expect((await own.oauth.clients.find(address))?.revokedAt).not.toBeNull()
    } finally {
      await own.stop()
      await new Promise((resolve) => web.close(resolve))
    }
  })
})

describe('a client of a user', () => {
  it('can be verified by an operator, until its owner changes it', async () => {
    const { client } = await service.oauth.clients.create({
      name: 'Photos',
      redirect: CALLBACK,
      userId: '1',
    })
    const { id } = client
    const listed = async () => {
      const all = (await tollgate(['client', 'list', '--json'])).json() as { id: string }[]
      return all.find((each) => each.id === id)
    }
    expect(await listed()).toMatchObject({ verified: false, self_registered: null })
    const verified = await tollgate(['client', 'verify', id, '--json'])
    expect(verified.json()).toEqual({ id, name: 'Photos', host: 'agent.example', verified: true })
    expect(await listed()).toMatchObject({ verified: true })
    expect((await tollgate(['client', 'list'])).stdout).toContain(
      '(registered by a user, verified)',
    )
    await service.oauth.clients.update(id, { name: 'Bank', redirect: CALLBACK, by: 'owner' })
    expect(await listed()).toMatchObject({ name: 'Bank', verified: false })
  })
})

describe('tollgate doctor', () => {
  /** The warnings and problems in production. */
  async function warnings(settings: SettingsInput, env: Record<string, string> = {}) {
    const config = readEnvironment(
      { ...PRODUCTION, ...env },
      { settings: parseSettings(settings), needs: [] },
    )
    const findings = await checkStandards(config, service.database)
    return findings.filter(({ level }) => level !== 'ok').map(({ message }) => message)
  }

  it('gives no warnings if only features that are in use are switched on', async () => {
    expect(await warnings({})).toEqual([])
  })

  it.each([
    [
      'open registration',
      { selfRegistered: { policy: 'open', scopes: ['place-orders'] } },
      ['Anyone may register a client'],
    ],
    [
      'a registration without scopes',
      { selfRegistered: { documents: ['app.example'] } },
      ['Clients that register themselves may not request any scope'],
    ],
    [
      'private addresses',
      { outgoing: { privateAddresses: ['10.0.0.0/8'] } },
      ['Clients can make the service send requests to 10.0.0.0/8, which is not public'],
    ],
    [
      'request objects that nobody has signed',
      { unsignedRequestObjects: true },
      ['Request objects are accepted without a signature'],
    ],
    [
      'tokens that pass through the browser',
      { responseTypes: ['code id_token'] },
      ['The response types code id_token pass tokens through the browser'],
    ],
    [
      'clients that cannot sign',
      { requestObjects: 'required' },
      [
        expect.stringMatching(
          /^\d clients cannot sign requests, but unsigned requests are rejected$/,
        ),
      ],
    ],
  ] as [string, SettingsInput, unknown[]][])('warns of %s', async (_, settings, expected) => {
    expect(await warnings(settings)).toEqual(expected)
  })

  it('warns of unused grants, and of clients that rely on a feature that is off', async () => {
    const own = await startTestService()
    const config = readEnvironment(PRODUCTION, { settings: parseSettings({}), needs: [] })
    for (const { id } of await own.oauth.clients.list()) await own.oauth.clients.revoke(id)
    const { client } = await own.oauth.clients.create({
      name: 'Bank',
      redirect: CALLBACK,
      settings: { require_pushed_authorization_requests: true },
    })
    const { client: apart } = await own.oauth.clients.create({
      name: 'Clinic',
      redirect: CALLBACK,
      settings: { subject_type: 'pairwise' },
    })
    const settings = { ...config.settings, pushedRequests: false }
    const findings = await checkStandards({ ...config, settings }, own.database)
    const bad = findings.filter(({ level }) => level === 'warning')
    expect(bad.map(({ message, fix }) => [message, fix])).toEqual([
      ['The password grant is on, and no client uses it', 'TOLLGATE_PASSWORD_GRANT=off'],
      ['The implicit grant is on, and no client uses it', 'TOLLGATE_IMPLICIT_GRANT=off'],
      [
        `Bank (${client.id}) has require_pushed_authorization_requests, so it is rejected while pushedRequests is off`,
        'Set pushedRequests to true.',
      ],
      [
        `Clinic (${apart.id}) has pairwise subjects, and is rejected without a salt`,
        'Set TOLLGATE_PAIRWISE_SALT to its former value: with another one people get new ids.',
      ],
    ])
    await own.stop()
  })

  it('reports a combination of settings that is invalid', async () => {
    const file = join(service.dataDir, 'unfit.config.mjs')
    writeFileSync(file, "export default { selfRegistered: { scopes: ['none-such'] } }")
    const { code, stdout } = await tollgate(['doctor'], { TOLLGATE_CONFIG: file })
    expect(code).toBe(1)
    expect(stdout).toContain("PROBLEM  configuration  selfRegistered.scopes has 'none-such'")
  })

  it('reports an invalid MCP server', async () => {
    const env = { TOLLGATE_MCP_SERVERS: 'http://api.example.com/mcp place-orders' }
    const { code, stdout } = await tollgate(['doctor'], env)
    expect(code).toBe(1)
    expect(stdout).toContain("mcp: servers['http://api.example.com/mcp'] must use https")
  })

  it('lists the features that are on, without revealing a token', async () => {
    const token = 'an-initial-access-token-of-32-characters'
    const { code, stdout } = await tollgate(['doctor'], {
      TOLLGATE_CLIENT_REGISTRATION: 'initial-access-token',
      TOLLGATE_INITIAL_ACCESS_TOKENS: token,
      TOLLGATE_CLIENT_DOCUMENTS: 'app.example',
      TOLLGATE_DPOP: 'required',
      TOLLGATE_DPOP_GUARD_REPLAYS: 'process',
      TOLLGATE_REQUEST_OBJECTS_BY_REFERENCE: 'on',
      TOLLGATE_PAIRWISE_SALT: SALT,
      TOLLGATE_MCP_SERVERS: 'http://127.0.0.1:9/mcp place-orders',
      TOLLGATE_CORS: 'on',
    })
    expect(code).toBe(0)
    for (const line of [
      'Programs with the initial access token may register a client',
      'Clients may identify themselves with a metadata document on app.example',
      'Pushing authorization requests is offered, signing them is offered',
      'Binding tokens to a key (DPoP) is required; at /api, each process detects only the replays that it receives itself',
      'Signed requests may be passed by reference: the service fetches them from a URL of the client',
      'Other applications can sign people in here, and may request openid, profile, email',
      'ID tokens are signed with RS256, and contain the claims of the scopes',
      'Clients may have pairwise subjects',
      'Every client may request place-orders at http://127.0.0.1:9/mcp',
      'Access tokens are signed with ES256; typ is at+jwt',
      'Pages of registered clients may send requests from other origins',
    ]) {
      expect(stdout).toContain(line)
    }
    expect(stdout).not.toContain(token)
    expect(stdout).not.toContain(SALT)
  })
})
