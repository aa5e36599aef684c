// Connects to an MCP server with the official SDKs for TypeScript and with mcp-remote, which lets
// programs that support only local servers connect to remote ones.
import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import * as second from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

const { MCP_ADDRESS: ADDRESS, PERSON } = process.env
const ABOUT = { name: 'foreign', version: '1.0.0' }
const CALLBACK = 'http://127.0.0.1:33418/callback'

/** Acts as the user: approves and returns the callback. */
async function visit(address) {
  const reply = await fetch(`${PERSON}?${new URLSearchParams({ address })}`)
  return new URL(await reply.text())
}

/** Storage of a program, in memory as in the SDK's own examples. */
function createHost() {
  const kept = {}
  return {
    kept,
    redirectUrl: CALLBACK,
    clientMetadata: {
      client_name: 'A program',
      redirect_uris: [CALLBACK],
      token_endpoint_auth_method: 'none',
    },
    clientInformation: () => kept.client,
    saveClientInformation: (client) => {
      kept.client = client
    },
    tokens: () => kept.tokens,
    saveTokens: (tokens) => {
      kept.tokens = tokens
    },
    redirectToAuthorization: (url) => {
      kept.sentTo = url
    },
    saveCodeVerifier: (verifier) => {
      kept.verifier = verifier
    },
    codeVerifier: () => kept.verifier,
    discoveryState: () => kept.discovered,
    saveDiscoveryState: (state) => {
      kept.discovered = state
    },
    invalidateCredentials: (what) => {
      if (what === 'all' || what === 'tokens') delete kept.tokens
      if (what === 'all' || what === 'client') delete kept.client
    },
  }
}

async function signIn(sdk, finish) {
  const host = createHost()
  const open = () => new sdk.Transport(new URL(ADDRESS), { authProvider: host })
  const first = open()
  const refused = new sdk.Client(ABOUT).connect(first)
  await assert.rejects(refused, (error) => error.constructor.name === 'UnauthorizedError')
  await finish(first, (await visit(host.kept.sentTo)).searchParams)
  const client = new sdk.Client(ABOUT)
  await client.connect(open())
  await useTools(client, ['list_notes'])
  await client.close()
}

async function useTools(client, names) {
  const { tools } = await client.listTools()
  assert.deepEqual(tools.map(({ name }) => name).sort(), ['add_note', 'list_notes'])
  for (const name of names) {
    const { content } = await client.callTool({ name, arguments: {} })
    assert.match(content[0].text, /notes|written/)
  }
}

/** Connects through mcp-remote, which the program uses like a local server without OAuth. */
async function throughRemote() {
  const require = createRequire(import.meta.url)
  const entry = join(dirname(require.resolve('mcp-remote/package.json')), 'dist/proxy.js')
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [entry, ADDRESS, '--allow-http'],
    env: {
      ...process.env,
      MCP_REMOTE_CONFIG_DIR: mkdtempSync(join(tmpdir(), 'mcp-remote-')),
    },
    stderr: 'pipe',
  })
  let said = ''
  let visited = null
  transport.stderr.on('data', (chunk) => {
    said += chunk
    const address = /https?:\S+\/oauth\/authorize\?\S+/.exec(said)?.[0]
    // The program prints a URL; the browser that returns from it may then be closed.
    if (address && said.includes(`${address}\n`))
      visited ??= visit(address).then((url) => fetch(url))
  })
  const client = new Client(ABOUT)
  try {
    await client.connect(transport)
    await useTools(client, ['list_notes'])
    assert.notEqual(visited, null, 'nobody was asked')
  } catch (error) {
    throw new Error(`${error.message} ${said}`)
  } finally {
    await client.close()
  }
}

async function say(library, action) {
  const detail = await action().then(
    () => null,
    (error) => `${error.message}`.replaceAll(/\s+/g, ' '),
  )
  console.log(
    [library, '-', 'signIn', detail === null ? 'accepted' : 'refused', detail ?? ''].join('\t'),
  )
}

const older = { Client, Transport: StreamableHTTPClientTransport }
const newer = { Client: second.Client, Transport: second.StreamableHTTPClientTransport }
await say('MCP SDK for TypeScript 1', () =>
  signIn(older, (transport, back) => transport.finishAuth(back.get('code'))),
)
await say('MCP SDK for TypeScript 2', () =>
  signIn(newer, (transport, back) => transport.finishAuth(back)),
)
await say('mcp-remote', throughRemote)
process.exit()
