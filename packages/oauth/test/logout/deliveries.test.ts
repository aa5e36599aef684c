import { decodeJwt } from 'jose'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { signIn } from '../openid/support.ts'
import {
  LOCAL,
  type LogoutServer,
  logoutClient,
  pollUntilTrue,
  type Receiver,
  startLogout,
  startReceiver,
} from './support.ts'

let server: LogoutServer
let receiver: Receiver
beforeEach(async () => {
  receiver = await startReceiver()
  server = await startLogout(true, LOCAL)
})
afterEach(async () => {
  await server.close()
  await receiver.close()
})

const notifiedClient = () =>
  logoutClient(server, { backchannel_logout_uri: receiver.url }, { firstParty: true })

describe('a queued logout notification, after its process ended,', () => {
  it('is delivered by the next process', async () => {
    const client = await notifiedClient()
    await signIn(server, client)
    receiver.answer = null
    const stopped = server.another()
    await stopped.endSession('ada.1')
    await pollUntilTrue(() => receiver.forms.length === 1)
    stopped.close()
    receiver.answer = 200
    server.clock.advance({ seconds: 31 })
    expect(await server.oauth.deliver()).toBe(1)
    const [first, second] = receiver.forms.map((form) => decodeJwt(form.get('logout_token') ?? ''))
    expect(second?.jti).toBe(first?.jti)
  })

  it('is delivered only once by two concurrent processes', async () => {
    const client = await notifiedClient()
    await signIn(server, client)
    receiver.answer = 503
    await server.oauth.endSession('ada.1')
    // The failure is logged after the delivery has been stored for later.
    await pollUntilTrue(() => server.logged.length > 0)
    expect(receiver.forms).toHaveLength(1)
    receiver.answer = 200
    server.clock.advance({ seconds: 31 })
    const other = server.another()
    const sent = await Promise.all([server.oauth.deliver(), other.deliver(), other.deliver()])
    expect(sent.reduce((sum, each) => sum + each, 0)).toBe(1)
    expect(receiver.forms).toHaveLength(2)
  })
})
