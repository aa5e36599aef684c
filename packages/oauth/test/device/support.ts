import { authorizationCode, deviceCode, password, refreshToken } from '../../src/index.ts'
import {
  buildSessionCookie,
  createClient,
  startServer,
  type TestServer,
  type TestServerOptions,
} from '../support.ts'

export const DEVICE_CODE = 'urn:ietf:params:oauth:grant-type:device_code'

export function startDevice(options: TestServerOptions = {}): Promise<TestServer> {
  return startServer({
    grants: [authorizationCode(), refreshToken(), password(), deviceCode()],
    ...options,
  })
}

export interface Device {
  readonly id: string
  readonly secret: string
}

/** Registers a television: a public client with the device grant. */
export const newDevice = (server: TestServer, changes: object = {}): Promise<Device> =>
  createClient(server, {
    name: 'Television',
    grants: [DEVICE_CODE, 'refresh_token'],
    confidential: false,
    ...changes,
  })

export interface DeviceReply {
  readonly device_code: string
  readonly user_code: string
  readonly verification_uri: string
  readonly verification_uri_complete: string
  readonly expires_in: number
  readonly interval: number
}

const credentialsOf = ({ id, secret }: Device) => ({
  client_id: id,
  ...(secret && { client_secret: secret }),
})

export function askAsDevice(
  server: TestServer,
  device: Device,
  params: Record<string, string> = {},
): Promise<Response> {
  return server.post('/oauth/device_authorization', {
    ...credentialsOf(device),
    scope: 'place-orders',
    ...params,
  })
}

export async function startDeviceFlow(
  server: TestServer,
  device: Device,
  params: Record<string, string> = {},
): Promise<DeviceReply> {
  const reply = await askAsDevice(server, device, params)
  if (reply.status !== 200) throw new Error(`${reply.status} ${await reply.text()}`)
  return (await reply.json()) as DeviceReply
}

export function poll(
  server: Pick<TestServer, 'post'>,
  device: Device,
  deviceCode: string,
  params: Record<string, string> = {},
): Promise<Response> {
  return server.post('/oauth/token', {
    grant_type: DEVICE_CODE,
    ...credentialsOf(device),
    device_code: deviceCode,
    ...params,
  })
}

/**
 * Waits as long as a device has to, then polls. Returns the error code, or `null` when a token was
 * issued.
 */
export async function pollError(
  server: TestServer,
  device: Device,
  deviceCode: string,
): Promise<string | null> {
  server.clock.advance({ seconds: 5 })
  const reply = await poll(server, device, deviceCode)
  return ((await reply.json()) as { error?: string }).error ?? null
}

export interface PageForm {
  readonly action: string
  readonly csrf_token: string
}

export function readPageForm(html: string): PageForm {
  const action = /action="([^"]+)"/.exec(html)?.[1] ?? ''
  const csrf = /name="csrf_token" value="([^"]+)"/.exec(html)?.[1] ?? ''
  return { action: action.replaceAll('&amp;', '&'), csrf_token: csrf }
}

export function openPage(server: TestServer, user: string, query = ''): Promise<Response> {
  return server.request(`/oauth/device${query}`, {
    headers: { cookie: buildSessionCookie(user), accept: 'text/html' },
  })
}

export function send(
  server: TestServer,
  user: string,
  { action, csrf_token }: PageForm,
  fields: Record<string, string>,
): Promise<Response> {
  const headers = { cookie: buildSessionCookie(user), origin: server.url, accept: 'text/html' }
  return server.post(action, { csrf_token, ...fields }, headers)
}

/** Types the user code and returns the next page: the two buttons, or an error. */
export async function typeCode(
  server: TestServer,
  user: string,
  userCode: string,
): Promise<Response> {
  const form = readPageForm(await (await openPage(server, user)).text())
  return send(server, user, form, { user_code: userCode })
}

export async function decide(
  server: TestServer,
  user: string,
  userCode: string,
  decision: 'approve' | 'deny' = 'approve',
): Promise<Response> {
  const page = await typeCode(server, user, userCode)
  if (page.status !== 200) throw new Error(`${page.status} ${await page.text()}`)
  return send(server, user, readPageForm(await page.text()), { decision })
}
