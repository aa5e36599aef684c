import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ClientRequirement, dpop, pushedRequests, requestObjects } from '../../src/index.ts'
import {
  createClient,
  REDIRECT,
  requestAuthorization,
  startServer,
  type TestServer,
} from '../support.ts'

/** The clients were created with all features enabled. The features are then disabled. */
let server: TestServer
let ask: (path: string, init?: RequestInit) => Promise<Response>
beforeAll(async () => {
  server = await startServer({ features: [pushedRequests(), requestObjects(), dpop()] })
  const without = server.another({ features: [] })
  ask = (path, init) =>
    without.fetch(new Request(new URL(path, server.url), { redirect: 'manual', ...init }))
})
afterAll(() => server.close())

const grants = ['authorization_code', 'refresh_token', 'client_credentials'] as const
const demands: readonly ClientRequirement[] = [
  'require_pushed_authorization_requests',
  'require_signed_request_object',
  'dpop_bound_access_tokens',
]

describe.each(demands)(
  'a client with the setting %s, whose feature has been disabled,',
  (demand) => {
    it('gets an error that names the setting', async () => {
      const { id } = await createClient(server, { settings: { [demand]: true } })
      const params = { client_id: id, redirect_uri: REDIRECT, response_type: 'code' }
      const page = await ask(`/oauth/authorize?${new URLSearchParams(params)}`, {
        headers: { cookie: 'session=ada.1' },
      })
      const back = new URL(page.headers.get('location') ?? `error:${page.status}`)
      expect(back.searchParams.get('error')).toBe('invalid_request')
      expect(back.searchParams.get('error_description')).toContain(demand)
    })

    it('can no longer be created', async () => {
      const without = server.another({ features: [] })
      await without.ready()
      const made = without.clients.create({
        name: 'App',
        redirect: REDIRECT,
        settings: { [demand]: true },
      })
      await expect(made).rejects.toMatchObject({
        errors: {
          settings: [
            `${demand} is not supported by this server: add its feature to the option features.`,
          ],
        },
      })
    })
  },
)

it('a client with dpop_bound_access_tokens gets a bearer token in no grant', async () => {
  const settings = { dpop_bound_access_tokens: true }
  const { id, secret } = await createClient(server, { grants, settings })
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: id,
    client_secret: secret,
  })
  const reply = await ask('/oauth/token', { method: 'POST', body })
  expect(reply.status).toBe(400)
  expect(await reply.json()).toMatchObject({
    error: 'invalid_request',
    error_description: expect.stringContaining('dpop_bound_access_tokens'),
  })
})

it('a client setting of a disabled feature has no effect if it is false', async () => {
  const settings = { dpop_bound_access_tokens: false, require_signed_request_object: false }
  const own = await startServer()
  const { id } = await createClient(own, { settings })
  const params = { client_id: id, redirect_uri: REDIRECT, response_type: 'code' }
  expect((await requestAuthorization(own, 'ada', params)).status).toBe(200)
  await own.close()
})
