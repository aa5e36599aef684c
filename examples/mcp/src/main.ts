import { randomBytes } from 'node:crypto'
import { serve } from '@hono/node-server'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { connect } from '@tollgate/database'
import { loginPage, openAccounts } from '@tollgate/example-shared'
import {
  authorizationCode,
  createAuthorizationServer,
  mcp,
  refreshToken,
  scopesOfToolCalls,
} from '@tollgate/oauth'
import { forHono } from '@tollgate/oauth/hono'
import { Hono } from 'hono'
import { createNotesServer, TOOL_SCOPES } from './notes-server.ts'

const port = Number(process.env.PORT ?? 3000)
const url = `http://localhost:${port}`
const address = `${url}/mcp` // the URL that users enter in their client
const origins: string[] = [] // origins of clients that run in a browser
const database = await connect(process.env.DATABASE_URL ?? 'sqlite::memory:')
const accounts = await openAccounts(database, url) // your own users and sessions

const oauth = createAuthorizationServer({
  issuer: url,
  secret: process.env.TOLLGATE_SECRET ?? randomBytes(32).toString('base64'),
  database,
  users: accounts,
  scopes: { 'notes:read': 'Read your notes', 'notes:write': 'Write notes in your name' },
  accessTokensExpireIn: '1h', // the default is a year; a leaked token should not work for long
  grants: [authorizationCode(), refreshToken()],
  features: [
    mcp({
      origins,
      servers: {
        [address]: {
          name: 'Notes',
          scopes: ['notes:read', 'notes:write'],
          scopesToAskFor: ['notes:read'],
        },
      },
    }),
  ],
})

const app = new Hono()
const { routes, auth, scopes, cors } = forHono(oauth, { resource: address })
const notes = new Map<string, string[]>()

function notesOf(userId: string): string[] {
  const own = notes.get(userId) ?? []
  notes.set(userId, own)
  return own
}

app.use(routes)
// The protocol requires this check of the origin: a website must not reach a server on its
// visitor's own machine.
app.use('/mcp', async (c, next) => {
  const origin = c.req.header('origin') ?? url
  return origin === url || origins.includes(origin) ? next() : c.text('Forbidden origin', 403)
})
app.use('/mcp', cors())
app.post(
  '/mcp',
  auth('api'),
  // All tools share one URL: the scopes that a request needs depend on its body.
  async (c, next) => {
    const message = await c.req.json().catch(() => null)
    return scopes(...scopesOfToolCalls(message, TOOL_SCOPES))(c, next)
  },
  async (c) => {
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
    await createNotesServer(notesOf(c.get('user').id)).connect(transport)
    return transport.handleRequest(c.req.raw, { parsedBody: await c.req.json().catch(() => null) })
  },
)
// The server keeps no session and sends no notifications, so there is no stream to open.
app.all('/mcp', auth('api'), (c) => c.body(null, 405, { allow: 'POST' }))

app.get('/login', (c) => c.html(loginPage(c.req.query('return_to'))))
app.post('/login', async (c) => {
  const form = await c.req.parseBody()
  const session = await accounts.signIn(form, c.req.header('origin'))
  if (!session) return c.html(loginPage(form.return_to, 'E-mail or password is wrong.'), 401)
  c.header('set-cookie', session.cookie)
  return c.redirect(session.location, 303)
})

const server = serve({ fetch: app.fetch, port }, () => {
  console.log(`
  Give your MCP client   ${address}
  Sign in with           demo@example.com / demo-password
`)
})
process.once('SIGTERM', () => {
  server.close(async () => {
    await oauth.close()
    await database.close()
  })
})
