// npm run check:mail: sends mail with `tollgate mail test` to aiosmtpd, a mail server in Python, by
// STARTTLS and by TLS from the beginning, with a password and a certificate authority of its own.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('../packages/server/bin/tollgate.js', import.meta.url))
const SERVER = `
import asyncio, ssl, sys
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, SMTP

implicit, folder = sys.argv[1] == 'implicit', sys.argv[2]
context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
context.load_cert_chain(folder + '/cert.pem', folder + '/key.pem')

class Handler:
    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith('unknown'):
            return '550 5.1.1 No such user'
        envelope.rcpt_tos.append(address)
        return '250 OK'

    async def handle_DATA(self, server, session, envelope):
        with open(folder + '/mail', 'wb') as file:
            file.write(envelope.content)
        return '250 Kept'

def sign_in(server, session, envelope, mechanism, data):
    # Not handled: the server itself answers a wrong password.
    return AuthResult(success=data.login == b'ada' and data.password == b'p@ss word', handled=False)

more = {} if implicit else {'tls_context': context, 'require_starttls': True}
if implicit:
    more = {'auth_require_tls': False}
async def main():
    loop = asyncio.get_running_loop()
    create = lambda: SMTP(Handler(), authenticator=sign_in, auth_required=True, enable_SMTPUTF8=True, **more)
    server = await loop.create_server(create, '127.0.0.1', 0, ssl=context if implicit else None)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()

asyncio.run(main())
`

const folder = mkdtempSync(join(tmpdir(), 'tollgate-mail-'))
const python = join(folder, 'venv/bin/python')
let failed = false

function report(name, isRight, detail) {
  if (!isRight) failed = true
  console.log(isRight ? `ok     ${name}` : `FAILED ${name}: ${detail}`)
}

function send(url, to) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, 'mail', 'test', to], {
    encoding: 'utf8',
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      TOLLGATE_DATA_DIR: folder,
      TOLLGATE_SMTP_URL: url,
      TOLLGATE_SMTP_TLS: 'required',
      TOLLGATE_MAIL_FROM: 'Bücher, GmbH <shop@example.com>',
      NODE_EXTRA_CA_CERTS: join(folder, 'cert.pem'),
    },
  })
  return { status, output: stdout + stderr }
}

async function check(kind, scheme) {
  writeFileSync(join(folder, 'mail'), '')
  const server = spawn(python, ['-c', SERVER, kind, folder], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  try {
    const [port] = await once(createInterface({ input: server.stdout }), 'line')
    const address = (password) => `${scheme}://ada:${password}@localhost:${port}`
    const right = address('p%40ss%20word')
    const sent = send(right, 'юлия@example.com')
    const mail = readFileSync(join(folder, 'mail'), 'utf8')
    const isWhole = ['Message-ID: <test-', 'Auto-Submitted: auto-generated', 'text/html'].every(
      (part) => mail.includes(part),
    )
    report(`${kind}: a mail arrives`, sent.status === 0 && isWhole, sent.output)
    const refused = send(right, 'unknown@example.com')
    report(`${kind}: a refusal is reported`, refused.output.includes('550 5.1.1'), refused.output)
    const wrong = send(address('wrong-horse'), 'ada@example.com')
    const isHidden = wrong.status === 1 && !wrong.output.includes('wrong-horse')
    report(
      `${kind}: a wrong password is reported`,
      isHidden && wrong.output.includes('Check the user and password'),
      wrong.output,
    )
  } finally {
    server.kill()
  }
}

try {
  const names = 'subjectAltName=DNS:localhost,IP:127.0.0.1'
  const request = '-x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext'.split(' ')
  const files = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'cert.pem')]
  execFileSync('openssl', ['req', ...request, names, ...files], { stdio: 'ignore' })
  execFileSync('python3', ['-m', 'venv', join(folder, 'venv')])
  execFileSync(python, ['-m', 'pip', '-q', 'install', 'aiosmtpd==1.4.6'])
  await check('starttls', 'smtp')
  await check('implicit', 'smtps')
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.exitCode = failed ? 1 : 0
