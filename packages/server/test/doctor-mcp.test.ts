import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { checkMcp } from '../src/cli/doctor/mcp.ts'
import { readEnvironment } from '../src/config/environment.ts'
import { parseSettings, type SettingsInput } from '../src/config/settings.ts'

const ISSUER = 'https://id.example.com'
const PRODUCTION = {
  NODE_ENV: 'production',
  DATABASE_URL: 'postgres://db/app',
  TOLLGATE_SECRET: 'kS9x1QfVbT7mZp3Lr8Wc2Yh5Ng0Ju4Da',
  TOLLGATE_URL: ISSUER,
}

/** The metadata of an MCP server, and the challenge that names its address. */
let metadata: object | null
let challenge: string | null
let server: Server
let uri: string
beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url === '/mcp') {
      if (challenge !== null) response.setHeader('www-authenticate', challenge)
      response.writeHead(401).end()
      return
    }
    const isMetadata = /^\/(\.well-known\/oauth-protected-resource\/mcp|said)$/.test(
      request.url ?? '',
    )
    const isSaid = request.url === '/said'
    const found = isMetadata && metadata && (challenge === null || isSaid)
    response.writeHead(found ? 200 : 404, { 'content-type': 'application/json' })
    response.end(found ? JSON.stringify(metadata) : '{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
})
afterAll(() => new Promise((resolve) => server.close(resolve)))
beforeEach(() => {
  challenge = null
  metadata = { resource: uri, authorization_servers: [ISSUER] }
})

async function findings(settings: SettingsInput = {}, env: Record<string, string> = {}) {
  const mcpServers = { [uri]: { scopes: ['place-orders'] } }
  const config = readEnvironment(
    { ...PRODUCTION, ...env },
    { settings: parseSettings({ mcpServers, ...settings }), needs: [] },
  )
  return (await checkMcp(config)).map(({ level, message }) => `${level}: ${message}`)
}

describe('tollgate doctor, when it checks MCP servers', () => {
  it('reports the scopes of each server, and that clients find this service from each server', async () => {
    expect(await findings()).toEqual([
      'ok: Only clients with a metadata document can use MCP servers, because registration is closed',
      `ok: Every client may request place-orders at ${uri}`,
      `warning: ${uri} is not https: it can only be used on this machine`,
      `ok: ${uri} names this service as its authorization server`,
    ])
    expect(await findings({}, { TOLLGATE_CLIENT_REGISTRATION: 'open' })).toContain(
      'ok: Clients can use MCP servers with a metadata document, or after registration',
    )
    challenge = `Bearer resource_metadata="${uri.replace('/mcp', '/said')}"`
    expect(await findings()).toContain(`ok: ${uri} names this service as its authorization server`)
  })

  it('reports nothing if no MCP servers are configured', async () => {
    expect(await findings({ mcpServers: null })).toEqual([])
  })

  it('reports servers whose clients do not find this service', async () => {
    metadata = { resource: uri, authorization_servers: ['https://other.example'] }
    expect(await findings()).toContain(
      `problem: ${uri} names https://other.example as its authorization server, not this service`,
    )
    metadata = { resource: `${uri}/`, authorization_servers: [ISSUER] }
    expect(await findings()).toContain(
      `problem: The metadata of ${uri} names the resource ${uri}/, so clients reject it`,
    )
    metadata = null
    expect(await findings()).toContainEqual(
      expect.stringMatching(/^warning: .* has no metadata that names its authorization server/),
    )
    const closed = { 'http://127.0.0.1:9/mcp': { scopes: ['place-orders'] } }
    expect(await findings({ mcpServers: closed })).toContainEqual(
      expect.stringMatching(/^warning: http:\/\/127\.0\.0\.1:9\/mcp does not respond/),
    )
  })

  it('reports servers without scopes, and servers that clients get no tokens for', async () => {
    expect(await findings({ mcpServers: { [uri]: { scopes: [] } } })).toContain(
      `warning: Every client can get tokens for ${uri}, but without any scope`,
    )
    const other = 'https://api.example.com'
    const settings = { resources: { [other]: {} }, selfRegistered: { resources: [other] } }
    expect(await findings(settings)).toContain(
      `warning: Clients that register themselves cannot get tokens for ${uri}`,
    )
  })
})
