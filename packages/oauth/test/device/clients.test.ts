import * as openidClient from 'openid-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  authorizationCode,
  deviceCode,
  openid,
  refreshToken,
  systemClock,
} from '../../src/index.ts'
import { type ListeningServer, listen } from '../support.ts'
import { decide, newDevice } from './support.ts'

let server: ListeningServer
beforeAll(async () => {
  server = await listen({
    clock: systemClock,
    grants: [authorizationCode(), refreshToken(), deviceCode({ interval: '1s' })],
    features: [openid()],
  })
})
afterAll(() => server.close())

async function discover(id: string): Promise<openidClient.Configuration> {
  const execute = [openidClient.allowInsecureRequests]
  return openidClient.discovery(new URL(server.url), id, undefined, openidClient.None(), {
    execute,
  })
}

describe('openid-client as a device client', () => {
  it('starts the flow, polls while the person decides, and gets its tokens with an ID token', async () => {
    const { id } = await newDevice(server)
    const config = await discover(id)
    const asked = await openidClient.initiateDeviceAuthorization(config, {
      scope: 'openid place-orders',
    })
    const polling = openidClient.pollDeviceAuthorizationGrant(config, asked)
    await decide(server, 'ada', asked.user_code)
    const tokens = await polling
    expect(tokens.scope).toBe('openid place-orders')
    expect(tokens.claims()?.sub).toBe('ada')
    const refreshed = await openidClient.refreshTokenGrant(config, tokens.refresh_token ?? '')
    expect(refreshed.access_token).not.toBe(tokens.access_token)
  })

  it('receives access_denied when the person denies', async () => {
    const { id } = await newDevice(server)
    const config = await discover(id)
    const asked = await openidClient.initiateDeviceAuthorization(config, {})
    await decide(server, 'ada', asked.user_code, 'deny')
    const polling = openidClient.pollDeviceAuthorizationGrant(config, asked)
    await expect(polling).rejects.toMatchObject({ error: 'access_denied' })
  })
})
