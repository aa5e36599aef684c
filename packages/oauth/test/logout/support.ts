import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { LogoutOptions, SignedIn, SignedOut } from '../../src/index.ts'
import { newClient, type OpenIdServer, startOpenId, UsersWithClaims } from '../openid/support.ts'
import { buildSessionCookie, type TestServer, type TestServerOptions } from '../support.ts'

export const HOME = 'https://app.example/signed-out'

/** Users whose sessions the application can end. It confirms the end of a session with a cookie. */
export class UsersWithSignOut extends UsersWithClaims {
  readonly ended = new Set<string>()

  override async fromRequest(request: Request): Promise<SignedIn | null> {
    const found = await super.fromRequest(request)
    return found?.sessionId && this.ended.has(found.sessionId) ? null : found
  }

  async signOut(request: Request): Promise<SignedOut> {
    const found = await super.fromRequest(request)
    if (found?.sessionId) this.ended.add(found.sessionId)
    return { setCookie: ['session=; Max-Age=0; Path=/', 'theme=; Max-Age=0'] }
  }
}

export interface LogoutServer extends OpenIdServer {
  readonly people: UsersWithSignOut
}

export async function startLogout(
  logout: LogoutOptions | boolean = true,
  options: TestServerOptions = {},
  settings: object = {},
): Promise<LogoutServer> {
  const people = new UsersWithSignOut()
  const server = await startOpenId({ users: people, ...options }, { logout, ...settings })
  return { ...server, people }
}

export const logoutClient = (server: TestServer, settings: object = {}, changes: object = {}) =>
  newClient(server, { settings: { post_logout_redirect_uris: [HOME], ...settings }, ...changes })

/** Options that let the server send requests to a receiver on loopback over plain http. */
export const LOCAL = { outgoing: { privateAddresses: ['127.0.0.1'] } } as const

/** Follows a link to the logout endpoint as a browser does. */
export function visit(
  server: TestServer,
  params: Record<string, string> = {},
  headers: Record<string, string> = {},
  user: string | null = 'ada',
): Promise<Response> {
  const query = new URLSearchParams(params)
  return server.request(`/oauth/logout${query.size > 0 ? `?${query}` : ''}`, {
    headers: {
      accept: 'text/html',
      ...(user !== null && { cookie: buildSessionCookie(user) }),
      ...headers,
    },
  })
}

export function fieldsOf(html: string): Record<string, string> {
  const fields = html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)
  const decode = (text: string) => text.replaceAll('&amp;', '&').replaceAll('&#39;', "'")
  return Object.fromEntries([...fields].map(([, name = '', value = '']) => [name, decode(value)]))
}

/** Presses a button of the confirmation page. */
export async function submitLogoutForm(
  server: TestServer,
  page: Response,
  decision: string,
  changes: { fields?: Record<string, string>; headers?: Record<string, string> } = {},
): Promise<Response> {
  const fields = { ...fieldsOf(await page.text()), decision, ...changes.fields }
  return server.post('/oauth/logout', fields, {
    cookie: buildSessionCookie('ada'),
    origin: server.url,
    accept: 'text/html',
    ...changes.headers,
  })
}

export const isSignedIn = async (server: TestServer, clientId: string): Promise<boolean> => {
  const reply = await server.request(
    `/oauth/authorize?${new URLSearchParams({
      client_id: clientId,
      redirect_uri: 'https://app.example/callback',
      response_type: 'code',
      scope: 'openid',
      prompt: 'none',
    })}`,
    { headers: { cookie: buildSessionCookie('ada'), accept: 'text/html' } },
  )
  const back = new URL(reply.headers.get('location') ?? 'error:none')
  return back.searchParams.get('error') !== 'login_required'
}

export interface Receiver {
  readonly url: string
  /** The received forms, in order. */
  readonly forms: URLSearchParams[]
  readonly types: string[]
  /** Status of the responses. `null` sends no response, so the caller keeps waiting. */
  answer: number | null
  /** Redirect target of the responses, or `null`. */
  location: string | null
  close(): Promise<void>
}

/** Starts a client that receives back-channel logout notifications. */
export async function startReceiver(): Promise<Receiver> {
  const http: Server = createServer()
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/logout`,
    forms: [],
    types: [],
    answer: 200,
    location: null,
    async close() {
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
    },
  }
  http.on('request', async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    receiver.forms.push(new URLSearchParams(body))
    receiver.types.push(request.headers['content-type'] ?? '')
    const { answer, location } = receiver
    if (answer !== null) response.writeHead(answer, location ? { location } : {}).end()
  })
  return receiver
}

/** Waits for something that happens in the background, without a fixed delay. */
export async function pollUntilTrue(happened: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 2400; tries += 1) {
    if (await happened()) return
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  throw new Error('It did not happen')
}
