// Runs an MCP server with its authorization server, and the clients that people connect to it: the
// official SDKs for TypeScript and Python, and mcp-remote. Each receives only the URL, discovers
// the rest and registers itself.
import { execFile } from 'node:child_process'
import { cpSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { getRequestListener } from '@hono/node-server'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import {
  authorizationCode,
  createAuthorizationServer,
  mcp,
  memoryStorage,
  refreshToken,
  scopesOfToolCalls,
} from '@tollgate/oauth'
import { forHono } from '@tollgate/oauth/hono'
import { Hono } from 'hono'

const SCOPES = { 'notes:read': 'Read your notes', 'notes:write': 'Write notes for you' }
const TOOLS = { list_notes: ['notes:read'], add_note: ['notes:read', 'notes:write'] }

const commands = [
  'python3 -m venv venv && venv/bin/pip -q install -r requirements.txt',
  'venv/bin/python client.py',
  'npm install --no-audit --no-fund --silent',
  'node clients.mjs',
]

/** Runs the clients. Returns the columns `library, preset, case, accepted or refused, detail`. */
export async function checkMcp(folder) {
  const cwd = join(folder, 'mcp')
  cpSync(fileURLToPath(new URL('mcp', import.meta.url)), cwd, { recursive: true })
  const server = await startNotes()
  try {
    let printed = ''
    for (const command of commands) {
      const env = { ...process.env, MCP_ADDRESS: server.address, PERSON: server.person }
      const { stdout } = await promisify(execFile)('bash', ['-c', command], { cwd, env })
      printed += stdout
    }
    const lines = printed.split('\n').map((line) => line.split('\t'))
    return lines.filter((parts) => parts.length === 5)
  } finally {
    server.close()
  }
}

async function startNotes() {
  const http = createServer()
  await new Promise((resolve) => http.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${http.address().port}`
  const address = `${url}/mcp`
  const oauth = createAuthorizationServer({
    issuer: url,
    secret: 'a secret for clients of MCP, of no worth',
    storage: memoryStorage(),
    users: { findById: (id) => ({ id }), fromRequest: () => ({ id: 'ada', sessionId: 'one' }) },
    scopes: SCOPES,
    grants: [authorizationCode(), refreshToken()],
    features: [
      mcp({
        servers: { [address]: { scopes: Object.keys(SCOPES), scopesToAskFor: ['notes:read'] } },
      }),
    ],
  })
  await oauth.ready()
  const app = new Hono()
  const { routes, auth, scopes } = forHono(oauth, { resource: address })
  const notes = []
  app.use(routes)
  // Acts as the user of the client. This is an endpoint because clients in other languages cannot
  // press a button.
  app.get('/person', async (c) => c.text(await approve(c.req.query('address'))))
  app.post(
    '/mcp',
    auth('api'),
    async (c, next) => scopes(...scopesOfToolCalls(await c.req.json(), TOOLS))(c, next),
    async (c) => {
      const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
      await createTools(notes).connect(transport)
      return transport.handleRequest(c.req.raw, { parsedBody: await c.req.json() })
    },
  )
  app.all('/mcp', auth('api'), (c) => c.body(null, 405))
  http.on('request', getRequestListener(app.fetch, { overrideGlobalObjects: false }))
  return {
    address,
    person: `${url}/person`,
    close() {
      oauth.close()
      http.closeAllConnections()
      http.close()
    },
  }
}

function createTools(notes) {
  const server = new McpServer({ name: 'notes', version: '1.0.0' })
  const say = (text) => ({ content: [{ type: 'text', text }] })
  server.registerTool('list_notes', {}, () => say(`${notes.length} notes`))
  server.registerTool('add_note', {}, () => say(`written as ${notes.push('a note')}`))
  return server
}

/** Opens the URL of an authorization request and approves. Returns the client's callback. */
async function approve(address) {
  const page = await fetch(address, { headers: { accept: 'text/html' }, redirect: 'manual' })
  const html = await page.text()
  const read = (pattern) => pattern.exec(html)?.[1].replaceAll('&amp;', '&')
  const token = read(/name="csrf_token" value="([^"]+)"/)
  if (!token) throw new Error(`No question at ${address}: ${page.status} ${html}`)
  const answer = await fetch(new URL(read(/action="([^"]+)"/), address), {
    method: 'POST',
    headers: { accept: 'text/html', origin: new URL(address).origin },
    body: new URLSearchParams({ csrf_token: token, decision: 'approve' }),
    redirect: 'manual',
  })
  return answer.headers.get('location') ?? `error:${answer.status}`
}
