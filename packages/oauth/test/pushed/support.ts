import { type Feature, pushedRequests } from '../../src/index.ts'
import { REDIRECT, startServer, type TestServer, type TestServerOptions } from '../support.ts'

export const VERIFIER = 'a-verifier-that-is-long-enough-for-anybody-1'
export const CHALLENGE = '03BnmsCFjxiiew8w92e0eHJAmcREwx-U10__1usYD2Y'

export interface FlowClient {
  readonly id: string
  readonly secret: string
}

export function startPushed(
  options: TestServerOptions = {},
  feature: Feature = pushedRequests(),
): Promise<TestServer> {
  return startServer({ features: [feature], ...options })
}

export function push(
  server: TestServer,
  client: FlowClient,
  params: Record<string, string> = {},
): Promise<Response> {
  return server.post('/oauth/par', {
    client_id: client.id,
    ...(client.secret && { client_secret: client.secret }),
    redirect_uri: REDIRECT,
    response_type: 'code',
    scope: 'place-orders',
    state: 'pushed',
    ...params,
  })
}

/** Pushes a request and returns the parameters of the authorization URL. */
export async function pushAndBuildParams(
  server: TestServer,
  client: FlowClient,
  params: Record<string, string> = {},
): Promise<{ client_id: string; request_uri: string }> {
  const reply = await push(server, client, params)
  if (reply.status !== 201) throw new Error(`${reply.status} ${await reply.text()}`)
  const { request_uri } = (await reply.json()) as { request_uri: string }
  return { client_id: client.id, request_uri }
}

export function exchange(
  server: TestServer,
  client: FlowClient,
  redirectedUrl: URL,
  params: Record<string, string> = {},
): Promise<Response> {
  return server.post('/oauth/token', {
    grant_type: 'authorization_code',
    code: redirectedUrl.searchParams.get('code') ?? '',
    redirect_uri: REDIRECT,
    client_id: client.id,
    ...(client.secret && { client_secret: client.secret }),
    ...params,
  })
}

export const locationOf = (reply: Response): URL =>
  new URL(reply.headers.get('location') ?? `error:${reply.status}`, 'http://localhost:4999')
