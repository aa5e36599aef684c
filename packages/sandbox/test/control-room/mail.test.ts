import { once } from 'node:events'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startSandbox } from '../../src/index.ts'

async function start() {
  const sandbox = await startSandbox({ mail: true, controlRoom: true })
  onTestFinished(() => sandbox.close())
  const room = sandbox.controlRoom?.url ?? ''
  return {
    ...sandbox,
    get: (path: string) => fetch(`${room}${path}`),
    post: (path: string, fields: Record<string, string> = {}) =>
      fetch(`${room}${path}`, {
        method: 'POST',
        body: new URLSearchParams(fields),
        headers: { accept: 'application/json', origin: room },
      }),
  }
}

const HTML =
  '<p style="color:red">Hello</p><script>alert(1)</script><img src="https://eve.example/pixel">'
const MESSAGE = [
  'From: Shop <shop@example.com>',
  'To: ada@example.com',
  'Subject: =?utf-8?q?Hello_=3Cb=3EAda=3C/b=3E?=',
  'X-Shop: <i>1</i>',
  'MIME-Version: 1.0',
  'Content-Type: multipart/mixed; boundary=b',
  '',
  '--b',
  'Content-Type: multipart/alternative; boundary=c',
  '',
  '--c',
  'Content-Type: text/plain; charset=utf-8',
  '',
  'Hello Ada',
  '--c',
  'Content-Type: text/html; charset=utf-8',
  '',
  HTML,
  '--c--',
  '--b',
  'Content-Type: text/html; name="evil.html"',
  'Content-Disposition: attachment; filename="evil.html"',
  '',
  '<script>alert(2)</script>',
  '--b--',
]

/** Sends one mail line by line, and returns the responses. */
async function deliver(url: string, message: readonly string[] = MESSAGE): Promise<string[]> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]()
  const responses: string[] = []
  const read = async () => {
    for (;;) {
      const { value, done } = await lines.next()
      if (done || !value) return responses.push('closed')
      if (/^\d{3} /.test(value)) return responses.push(value)
    }
  }
  await read()
  for (const command of [
    'EHLO test',
    'MAIL FROM:<shop@example.com>',
    'RCPT TO:<ada@example.com>',
    'DATA',
    `${message.join('\r\n')}\r\n.`,
    'QUIT',
  ]) {
    if (socket.destroyed) break
    socket.write(`${command}\r\n`)
    await read()
  }
  socket.destroy()
  if (!socket.closed) await once(socket, 'close')
  return responses
}

describe('the mailbox of the control room', () => {
  it('lists mail, shows the text and headers of a mail, and deletes all mail', async () => {
    const { mail, get, post } = await start()
    expect((await deliver(mail.url)).map((line) => line.slice(0, 3))).toEqual([
      '220',
      '250',
      '250',
      '250',
      '354',
      '250',
      '221',
    ])
    const list = await (await get('/mail')).text()
    expect(list).toContain('<a href="/mail/mail_1">Hello &lt;b&gt;Ada&lt;/b&gt;</a>')
    const page = await (await get('/mail/mail_1')).text()
    expect(page).toContain('Hello Ada')
    expect(page).toContain('&lt;i&gt;1&lt;/i&gt;')
    expect(page).not.toContain('<i>1</i>')
    const json = await (await get('/mail.json')).json()
    expect(json).toMatchObject({
      server: mail.url,
      fault: null,
      messages: [{ subject: 'Hello <b>Ada</b>', to: ['ada@example.com'], text: 'Hello Ada\n' }],
    })
    expect((await post('/delete-mail')).status).toBe(200)
    expect(mail.messages()).toEqual([])
    expect((await get('/mail/mail_1')).status).toBe(404)
  })

  it('shows the HTML of a mail in a sandboxed frame without scripts and without requests to other hosts', async () => {
    const { mail, get } = await start()
    await deliver(mail.url)
    const page = await (await get('/mail/mail_1')).text()
    expect(page).toContain('sandbox="" src="/mail/mail_1/html"')
    expect(page).not.toContain('alert(1)')
    const frame = await get('/mail/mail_1/html')
    expect(await frame.text()).toContain(HTML)
    const policy = frame.headers.get('content-security-policy')
    expect(policy).toContain("default-src 'none'")
    expect(policy).toMatch(/; sandbox$/)
    expect(policy).not.toContain('https:')
    const file = await get('/mail/mail_1/attachments/0')
    expect(file.headers.get('content-type')).toBe('application/octet-stream')
    expect(file.headers.get('content-disposition')).toMatch(/^attachment; filename\*=UTF-8''evil/)
    const raw = await get('/mail/mail_1/raw')
    expect(raw.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect((await get('/mail/mail_1/attachments/1')).status).toBe(404)
  })

  it.each([
    ['busy', '451 '],
    ['unknown-recipient', '550 '],
    ['refused-content', '554 '],
    ['away', 'closed'],
    ['lost-response', 'closed'],
  ])('makes the mail server fail: %s', async (kind, response) => {
    const { mail, post, get } = await start()
    const set = await post('/fail-mail', { kind, count: '1' })
    expect(await set.json()).toEqual({ fault: kind })
    expect(await (await get('/trouble')).text()).toContain(`value="${kind}" checked`)
    const responses = await deliver(mail.url)
    expect(responses.some((line) => line.startsWith(response))).toBe(true)
    expect(mail.messages()).toHaveLength(kind === 'lost-response' ? 1 : 0)
    expect(mail.fault()).toBeNull()
    await deliver(mail.url)
    expect(mail.messages().length).toBeGreaterThan(0)
  })

  it('says how to start a mail server if there is none', async () => {
    const sandbox = await startSandbox({ controlRoom: true })
    onTestFinished(() => sandbox.close())
    expect(sandbox.mail).toBeNull()
    const page = await (await fetch(`${sandbox.controlRoom?.url}/mail`)).text()
    expect(page).toContain('started without a mail server')
  })
})

describe('the mail server of a sandbox', () => {
  it('keeps only the newest mail, loses all mail on reset(), and listens on this machine only', async () => {
    const sandbox = await startSandbox({ mail: { kept: 2 } })
    onTestFinished(() => sandbox.close())
    const { mail } = sandbox
    expect(mail.url).toMatch(/^smtp:\/\/127\.0\.0\.1:\d+$/)
    for (let times = 0; times < 3; times++) await deliver(mail.url)
    expect(mail.messages().map(({ id }) => id)).toEqual(['mail_2', 'mail_3'])
    expect(mail.find('mail_3')?.receivedAt).toEqual(sandbox.clock.now())
    mail.fail('busy')
    await sandbox.reset()
    expect([mail.messages(), mail.fault()]).toEqual([[], null])
  })
})
