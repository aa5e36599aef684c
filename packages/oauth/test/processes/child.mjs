// One process of a service with several: node child.mjs <database url> <options as JSON>. It runs
// commands, one JSON object per line, and uses the built packages as an application does.
import { createInterface } from 'node:readline'
import { connect } from '@tollgate/database'
import {
  authorizationCode,
  clientCredentials,
  createAuthorizationServer,
  dpop,
  password,
  refreshToken,
  tokenExchange,
} from '@tollgate/oauth'

const [url, optionsText = '{}'] = process.argv.slice(2)
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
let statements = []

const { timeout = 10_000, takesProofs = false, ...options } = JSON.parse(optionsText)
const database = await connect(url, { timeout, onQuery: (sql) => statements.push(sql) })
const people = new Map(['ada', 'bob', 'eve'].map((id) => [id, { id }]))
const oauth = createAuthorizationServer({
  issuer: 'http://localhost:4999',
  secret: 'a test secret of more than thirty-two characters',
  database,
  users: {
    findById: async (id) => people.get(id) ?? { id },
    findByCredentials: async (username) => people.get(username) ?? { id: username },
    async fromRequest(request) {
      const session = /session=([^;]+)/.exec(request.headers.get('cookie') ?? '')?.[1]
      return session ? { id: session.split('.')[0], sessionId: session } : null
    },
  },
  scopes: { 'place-orders': 'Place orders', 'check-status': 'Check order status' },
  grants: [authorizationCode(), refreshToken(), password(), clientCredentials(), tokenExchange()],
  features: takesProofs ? [dpop()] : [],
  logger: { error: (message, error) => process.stderr.write(`${message}: ${error?.stack}\n`) },
  ...options,
})
await oauth.ready()

async function send({ path, form, headers = {}, method = form ? 'POST' : 'GET' }) {
  const body = form && new URLSearchParams(form)
  const request = new Request(`http://localhost:4999${path}`, { method, headers, body })
  const reply = await oauth.fetch(request)
  const text = await reply.text()
  return {
    status: reply.status,
    location: reply.headers.get('location'),
    cookie: reply.headers.get('set-cookie'),
    body: text.startsWith('{') ? JSON.parse(text) : text,
  }
}

async function guard(credentials) {
  try {
    await oauth.guard.authenticate('api', { cookie: null, csrfToken: null, ...credentials })
    return 200
  } catch (error) {
    return oauth.guard.refusal(error).status
  }
}

const commands = {
  send,
  guard,
  /** Sends many requests concurrently. */
  burst: ({ requests }) => Promise.all(requests.map(send)),
  guards: ({ all }) => Promise.all(all.map(guard)),
  /** Calls any method of the server: `{ method: 'clients.revoke', args: ['id'] }`. */
  async call({ method, args = [] }) {
    const [group, name] = method.split('.')
    const result = await (name ? oauth[group][name](...args) : oauth[group](...args))
    return { result, at: Date.now() }
  },
  async freshToken({ session }) {
    const page = new Request('http://localhost:4999/', {
      headers: { cookie: `session=${session}` },
    })
    const fresh = await oauth.freshToken({
      method: 'GET',
      path: '/',
      query: '',
      header: (name) => page.headers.get(name),
      text: async () => '',
      toRequest: () => page,
    })
    return { cookie: fresh.setCookie?.split(';')[0], csrfToken: fresh.csrfToken }
  },
  /**
   * Calls the guard repeatedly until it refuses, and returns when the last accepted call was sent.
   */
  async untilRefused({ credentials, patience }) {
    const deadline = Date.now() + patience
    statements = []
    let lastAccepted = 0
    let requests = 0
    for (;;) {
      const sentAt = Date.now()
      const status = await guard(credentials)
      requests += 1
      if (status !== 200) {
        // Statements of background work, which no request waits for.
        const others = statements.filter(
          (sql) => !/oauth_(?:revocations|heartbeats)|tollgate_clock/.test(sql),
        )
        return { status, lastAccepted, refusedAt: Date.now(), requests, others }
      }
      lastAccepted = sentAt
      if (sentAt > deadline) return { status, lastAccepted, refusedAt: null, requests, others: [] }
      await pause(5)
    }
  },
  /** Issues and refreshes until killed, and prints each token only after it was acknowledged. */
  async load({ client, atOnce }) {
    const print = (entry) => process.stdout.write(`${JSON.stringify({ acknowledged: entry })}\n`)
    const credentials = { client_id: client.id, client_secret: client.secret }
    const redirect_uri = 'https://app.example/callback'
    async function newGrant(number) {
      if (number % 2) {
        const form = {
          ...credentials,
          grant_type: 'password',
          username: `user${number}`,
          password: 'x',
        }
        return send({ path: '/oauth/token', form })
      }
      const query = new URLSearchParams({
        client_id: client.id,
        redirect_uri,
        response_type: 'code',
      })
      const headers = { cookie: `session=user${number}.1` }
      const { location } = await send({ path: `/oauth/authorize?${query}`, headers })
      const code = new URL(location).searchParams.get('code')
      const form = { ...credentials, grant_type: 'authorization_code', redirect_uri, code }
      return send({ path: '/oauth/token', form })
    }
    const work = async (worker) => {
      for (let number = worker; ; number += atOnce) {
        let reply = await newGrant(number)
        for (let generation = 0; generation < 4; generation += 1) {
          if (reply.status !== 200) throw new Error(`No token: ${JSON.stringify(reply)}`)
          print({ generation, ...reply.body })
          if (generation === 3) break
          const { refresh_token } = reply.body
          const form = { ...credentials, grant_type: 'refresh_token', refresh_token }
          reply = await send({ path: '/oauth/token', form })
        }
      }
    }
    await Promise.all(Array.from({ length: atOnce }, (_, worker) => work(worker)))
  },
}

createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, command, ...params } = JSON.parse(line)
  try {
    const value = await commands[command](params)
    process.stdout.write(`${JSON.stringify({ id, value: value ?? null })}\n`)
  } catch (error) {
    process.stdout.write(`${JSON.stringify({ id, error: String(error?.stack) })}\n`)
  }
})
process.stdin.on('end', () => process.exit(0))
process.stdout.write('{"ready":true}\n')
