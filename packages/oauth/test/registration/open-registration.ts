import { clientRegistration, type Feature } from '../../src/index.ts'
import { REDIRECT, startServer, type TestServer, type TestServerOptions } from '../support.ts'
import { outgoing, postJson } from './support.ts'

/** A limit that is never reached, for tests about other things. */
export const UNLIMITED = 10_000

export const METADATA = { redirect_uris: [REDIRECT], client_name: 'A stranger' }

export function startOpen(
  feature: Feature = clientRegistration({ policy: 'open', perMinute: UNLIMITED }),
  options: TestServerOptions = {},
): Promise<TestServer> {
  return startServer({
    features: [feature],
    selfRegistered: { scopes: ['place-orders'] },
    outgoing: outgoing(),
    ...options,
  })
}

export interface Registered {
  readonly client_id: string
  readonly client_secret?: string
  readonly registration_access_token: string
  readonly registration_client_uri: string
  readonly [member: string]: unknown
}

export async function registerAt(server: TestServer, metadata: object = {}): Promise<Registered> {
  const reply = await postJson(server, '/oauth/register', { ...METADATA, ...metadata })
  if (reply.status !== 201) throw new Error(`${reply.status} ${await reply.text()}`)
  return (await reply.json()) as Registered
}

export async function registerAndReadError(server: TestServer, metadata: unknown) {
  const reply = await postJson(server, '/oauth/register', metadata)
  return { status: reply.status, ...((await reply.json()) as { error?: string }) }
}

export const toFlowClient = ({ client_id, client_secret = '' }: Registered) => ({
  id: client_id,
  secret: client_secret,
})
