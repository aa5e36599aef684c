import { once } from 'node:events'
import { request as send } from 'node:http'
import { connect, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { frameworks, type Served, serve } from './frameworks.ts'
import { BASE_URL, billingSubject, oauthSubject } from './mounted.ts'

const cases = frameworks.flatMap((framework) =>
  [oauthSubject, billingSubject].map((subject) => ({ framework, subject, name: subject.name })),
)

/** Failures that nobody caught; a process without this would end by them. */
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

/** With a Host header of the caller's choice, which `fetch` does not allow. */
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
    'log nothing of a body that is cut off when the caller %s, and the connection ends',
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

  it('respond, to nobody, when the caller has gone before the body is read', async () => {
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
    // What fails while the response is sent would fail now.
    await new Promise((resolve) => setImmediate(resolve))
    expect([watch.logged, uncaught]).toEqual([[], []])
  })

  it.each(subject.refusals)('say 405 for %s %s, and allow %s', async (method, path, allow) => {
    const { mounts } = await subject.mount()
    const served = await serve(framework, mounts)
    const response = await fetch(served.url + path, { method })
    expect([response.status, response.headers.get('allow')]).toEqual([405, allow])
  })

  it('tell the application their configured address, whatever Host says', async () => {
    const { mounts, watch } = await subject.mount()
    const served = await serve(framework, mounts)
    for (const host of ['evil.example', 'app.example:81']) {
      expect(await get(served, subject.asking, host)).toBe(401)
    }
    const address = BASE_URL + subject.asking
    expect(watch.asked).toEqual([address, address])
  })

  it('are matched once, and leave other addresses alone', async () => {
    const { mounts, watch } = await subject.mount()
    const served = await serve(framework, mounts)
    expect((await fetch(`${served.url}/nowhere`)).status).toBe(404)
    expect((await fetch(served.url + subject.posting, { method: 'PUT' })).status).toBe(405)
    expect(watch.matchedBefore).toBe(0)
  })
})
