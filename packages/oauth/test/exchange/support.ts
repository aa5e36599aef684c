import {
  type AuthorizationServer,
  authorizationCode,
  clientCredentials,
  password,
  refreshToken,
  tokenExchange,
} from '../../src/index.ts'
import { createClient, startServer, type TestServer, type TestServerOptions } from '../support.ts'

export const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'
export const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'
export const JWT = 'urn:ietf:params:oauth:token-type:jwt'

export const ORDERS = 'https://orders.example.com'
export const REPORTS = 'https://reports.example.com'

export const GRANTS = [
  authorizationCode(),
  refreshToken(),
  password(),
  clientCredentials(),
  tokenExchange(),
]

export function startExchange(options: TestServerOptions = {}): Promise<TestServer> {
  return startServer({
    grants: GRANTS,
    resources: {
      [ORDERS]: { audience: 'orders-api', scopes: ['place-orders'] },
      [REPORTS]: { audience: 'reports-api' },
    },
    ...options,
  })
}

export interface ExchangeClient {
  readonly id: string
  readonly secret: string
}

/** Registers a shop, whose users grant it access with their password for brevity. */
export const newShop = (server: TestServer, changes: object = {}): Promise<ExchangeClient> =>
  createClient(server, { name: 'Shop', grants: ['password', 'refresh_token'], ...changes })

/** Registers a service behind the shop, which exchanges tokens. */
export const newService = (server: TestServer, changes: object = {}): Promise<ExchangeClient> =>
  createClient(server, {
    name: 'Invoices',
    grants: [TOKEN_EXCHANGE, 'client_credentials'],
    ...changes,
  })

export interface Reply {
  readonly access_token: string
  readonly refresh_token?: string
  readonly issued_token_type: string
  readonly token_type: string
  readonly expires_in: number
  readonly scope: string
  readonly error?: string
}

type Fields = Record<string, string> | [string, string][]

function requestExchange(
  server: TestServer,
  { id, secret }: ExchangeClient,
  fields: Fields,
): Promise<Response> {
  const body = new URLSearchParams(fields)
  body.set('client_id', id)
  if (secret) body.set('client_secret', secret)
  return server.request('/oauth/token', { method: 'POST', body })
}

async function read(reply: Response): Promise<Reply> {
  return (await reply.json()) as Reply
}

/** Returns a token of Ada's, with both scopes unless overridden. */
export async function createSubjectToken(
  server: TestServer,
  shop: ExchangeClient,
  fields: [string, string][] = [['scope', 'place-orders check-status']],
): Promise<Reply> {
  const person: [string, string][] = [
    ['grant_type', 'password'],
    ['username', 'ada@example.com'],
    ['password', 'correct horse'],
  ]
  const tokens = await read(await requestExchange(server, shop, [...person, ...fields]))
  if (tokens.error) throw new Error(JSON.stringify(tokens))
  return tokens
}

/** Returns a client's own token, which serves as the actor token. */
export async function createActorToken(
  server: TestServer,
  service: ExchangeClient,
): Promise<string> {
  const reply = await requestExchange(server, service, { grant_type: 'client_credentials' })
  return (await read(reply)).access_token
}

export async function exchange(
  server: TestServer,
  service: ExchangeClient,
  subject: string,
  fields: Record<string, string> = {},
): Promise<Reply> {
  return read(
    await requestExchange(server, service, {
      grant_type: TOKEN_EXCHANGE,
      subject_token: subject,
      subject_token_type: ACCESS_TOKEN,
      ...fields,
    }),
  )
}

export async function guardStatus(
  oauth: Pick<AuthorizationServer, 'guard'>,
  accessToken: string,
): Promise<number> {
  const headers = { authorization: `Bearer ${accessToken}`, cookie: null, csrfToken: null }
  try {
    await oauth.guard.authenticate('api', headers)
    return 200
  } catch (error) {
    return oauth.guard.refusal(error).status
  }
}
