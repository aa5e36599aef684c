import { afterEach, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from './support.ts'

const MCP = 'https://mcp.example.com/mcp'
const CALLBACK = 'http://127.0.0.1:9/callback'

let service: TestService
afterEach(() => service?.stop())

async function start(policy: 'closed' | 'open'): Promise<Record<string, unknown>> {
  service = await startTestService({
    settings: {
      scopes: { 'notes:read': 'Read your notes', 'delete-account': 'Delete your account' },
      mcpServers: { [MCP]: { scopes: ['notes:read'] } },
      selfRegistered: { policy },
    },
  })
  return (await fetch(`${service.url}/.well-known/oauth-authorization-server`)).json()
}

const register = () =>
  fetch(`${service.url}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' }),
  })

async function ask(clientId: string, changes: Record<string, string> = {}) {
  const query = new URLSearchParams({
    client_id: clientId,
    redirect_uri: CALLBACK,
    response_type: 'code',
    scope: 'notes:read',
    code_challenge: 'a'.repeat(43),
    code_challenge_method: 'S256',
    ...changes,
  })
  const reply = await fetch(`${service.url}/oauth/authorize?${query}`, { redirect: 'manual' })
  const location = new URL(reply.headers.get('location') ?? '', service.url)
  return location.searchParams.get('error') ?? location.pathname
}

describe('the `mcpServers` setting', () => {
  it('allows client ID metadata documents, while the registration of clients depends on the policy', async () => {
    const metadata = await start('closed')
    expect(metadata).toMatchObject({
      client_id_metadata_document_supported: true,
      protected_resources: [MCP],
    })
    expect(metadata.registration_endpoint).toBeUndefined()
    expect((await register()).status).toBe(404)
  })

  it('lets self-registered clients get tokens only for the MCP server and its scopes', async () => {
    await start('open')
    const reply = await register()
    expect(reply.status).toBe(201)
    const { client_id, scope } = (await reply.json()) as { client_id: string; scope: string }
    expect(scope.split(' ')).toEqual(expect.arrayContaining(['notes:read']))
    expect(scope).not.toContain('delete-account')
    expect(await ask(client_id)).toBe('/login')
    expect(await ask(client_id, { resource: MCP })).toBe('/login')
    expect(await ask(client_id, { resource: service.url })).toBe('invalid_target')
    expect(await ask(client_id, { scope: 'delete-account' })).toBe('invalid_scope')
  })
})
