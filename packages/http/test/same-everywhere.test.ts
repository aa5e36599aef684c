import { once } from 'node:events'
import { request as send } from 'node:http'
import { connect, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { frameworks, type Served, serve } from './frameworks.ts'
import { BASE_URL, billingSubject, oauthSubject } from './mounted.ts'

const cases = frameworks.flatMap((framework) =>
  [oauthSubject, billingSubject].map((subject) => ({ framework, subject, name: subject.name })),
)

/** Records unhandled failures, which would end a process without these listeners. */
function watchProcess(): unknown[] {
  const uncaught: unknown[] = []
  const note = (reason: unknown) => uncaught.push(reason)
  process.on('unhandledRejection', note).on('uncaughtException', note)
  onTestFinished(() => {
    process.off('unhandledRejection', note).off('uncaughtException', note)
  })
  return uncaught
}

/** Announces a body of 100 bytes and sends four. */
function sendHalf({ url }: Served, path: string): Socket {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname).on('error', () => {})
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: a\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: 100\r\n\r\nhalf`,
  )
  return socket
}

function countConnections({ server }: Served): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error ? reject(error) : resolve(count)))
  })
}

/** Sends a GET with a Host header of the caller's choice, which `fetch` does not allow. */
function get({ url }: Served, path: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    send(new URL(path, url), { headers: { host, 'x-forwarded-host': host } }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
      .on('error', reject)
      .end()
  })
}

describe.each(cases)('the routes of $name in $framework', ({ framework, subject }) => {
  it.each(['vanishes', 'hangs up'])(
    'log nothing about an unfinished body if the caller %s, and close the connection',
    async (how) => {
      const { mounts, watch } = await subject.mount()
      const served = await serve(framework, mounts)
      const uncaught = watchProcess()
      const socket = sendHalf(served, subject.posting)
      await expect.poll(() => watch.responses.length).toBe(1)
      if (how === 'vanishes') socket.destroy()
      else socket.resume().end()
      await Promise.all(watch.responses)
      if (!socket.closed) await once(socket, 'close')
      await expect.poll(() => countConnections(served)).toBe(0)
      expect([watch.logged, uncaught]).toEqual([[], []])
      expect((await fetch(served.url + subject.posting, { method: 'PUT' })).status).toBe(405)
    },
  )

  it('finish the response if the caller has disconnected before the body was read', async () => {
    const { mounts, watch } = await subject.mount()
    const served = await serve(framework, mounts)
    const uncaught = watchProcess()
    let open = () => {}
    watch.gate = new Promise((resolve) => {
      open = resolve
    })
    const socket = sendHalf(served, subject.posting)
    await expect.poll(() => watch.responses.length).toBe(1)
    socket.destroy()
    await expect.poll(() => countConnections(served)).toBe(0)
    open()
    await Promise.all(watch.responses)
    // A failure while sending the response would happen now.
    await new Promise((resolve) => setImmediate(resolve))
    expect([watch.logged, uncaught]).toEqual([[], []])
  })

  it.each(subject.refusals)(
    'return 405 for %s %s, and list the allowed methods %s',
    async (method, path, allow) => {
      const { mounts } = await subject.mount()
      const served = await serve(framework, mounts)
      const response = await fetch(served.url + path, { method })
      expect([response.status, response.headers.get('allow')]).toEqual([405, allow])
    },
  )

  it('report their configured URL to the application, whatever the Host header says', async () => {
    const { mounts, watch } = await subject.mount()
    const served = await serve(framework, mounts)
    for (const host of ['evil.example', 'app.example:81']) {
      expect(await get(served, subject.asking, host)).toBe(401)
    }
    const address = BASE_URL + subject.asking
    expect(watch.asked).toEqual([address, address])
  })

  it('are matched once per request, and leave other paths to the application', async () => {
    const { mounts, watch } = await subject.mount()
    const served = await serve(framework, mounts)
    expect((await fetch(`${served.url}/nowhere`)).status).toBe(404)
    expect((await fetch(served.url + subject.posting, { method: 'PUT' })).status).toBe(405)
    expect(watch.matchedBefore).toBe(0)
  })
})
