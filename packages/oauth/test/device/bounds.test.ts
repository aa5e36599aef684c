import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ticketQuotas } from '../../src/limits/policies.ts'
import { createClient, type TestServer } from '../support.ts'
import {
  askAsDevice,
  DEVICE_CODE,
  type Device,
  type DeviceReply,
  decide,
  newDevice,
  poll,
  pollError,
  startDevice,
  startDeviceFlow,
  typeCode,
} from './support.ts'

let server: TestServer
let device: Device
/** The client address of the next request. */
let address: string
beforeEach(async () => {
  address = '192.0.2.1'
  server = await startDevice({ addressOf: () => address })
  device = await newDevice(server)
})
afterEach(() => server.close())

const tickets = () =>
  server.database.kysely
    .withTables<{ oauth_tickets: { kind: string; holder: string | null } }>()
    .selectFrom('oauth_tickets')
    .select(['kind', 'holder'])
    .execute()

describe('pending device codes (threat Q7)', () => {
  it('are limited per network: above the limit, a new code replaces the oldest one that no person has entered yet', async () => {
    const forgotten = await startDeviceFlow(server, device)
    const typed = await startDeviceFlow(server, device)
    expect((await typeCode(server, 'ada', typed.user_code)).status).toBe(200)
    const approved = await startDeviceFlow(server, device)
    await decide(server, 'bob', approved.user_code)
    address = '192.0.2.2'
    const others = await startDeviceFlow(server, device)
    address = '192.0.2.1'
    server.clock.advance({ seconds: 1 })
    for (let count = 0; count < ticketQuotas.deviceCodes.ofOneNetwork; count += 1) {
      await startDeviceFlow(server, device)
    }
    const kinds = (await tickets()).filter(({ holder }) => holder === '192.0.2.1')
    expect(kinds).toHaveLength(2 * ticketQuotas.deviceCodes.ofOneNetwork)
    expect(await pollError(server, device, forgotten.device_code)).toBe('invalid_grant')
    expect(await pollError(server, device, others.device_code)).toBe('authorization_pending')
    expect(await pollError(server, device, typed.device_code)).toBe('authorization_pending')
    expect((await decide(server, 'ada', typed.user_code)).status).toBe(200)
    expect((await poll(server, device, approved.device_code)).status).toBe(200)
  })

  it('are kept for some time after they expired, so that a device that is still polling receives expired_token', async () => {
    const { device_code } = await startDeviceFlow(server, device)
    server.clock.advance({ minutes: 10 })
    await server.oauth.purge()
    expect(await pollError(server, device, device_code)).toBe('expired_token')
    server.clock.advance({ minutes: 1 })
    await server.oauth.purge()
    expect(await tickets()).toEqual([])
  })

  it('are refused with Retry-After to a network that requested too many, but not to other networks', async () => {
    for (let count = 0; count < 300; count += 1) await startDeviceFlow(server, device)
    const refused = await askAsDevice(server, device)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '600'])
    address = '192.0.2.2'
    const reply: DeviceReply = await startDeviceFlow(server, device)
    expect(reply.user_code).toMatch(/^\w{4}-\w{4}$/)
  })

  it('do not count against the limit of their network if the client authenticated itself', async () => {
    const secret = await createClient(server, { name: 'Hub', grants: [DEVICE_CODE] })
    await startDeviceFlow(server, secret)
    const held = (await tickets()).map(({ holder }) => holder)
    expect(held).toEqual([secret.id, secret.id])
  })
})

describe('valid user codes (threat Q6)', () => {
  it('never count as wrong guesses, however many are typed', async () => {
    for (let count = 0; count < 25; count += 1) {
      const { user_code } = await startDeviceFlow(server, device)
      expect((await typeCode(server, 'ada', user_code)).status).toBe(200)
    }
  })
})
