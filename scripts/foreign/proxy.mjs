// Puts oauth2-proxy in front of a page and signs a user with cookies in through it. The version is
// in proxy/go.mod: `go install …@version` would also request the list of all versions, which not
// every module proxy serves. Building takes a minute or more, so OAUTH2_PROXY may name an existing
// binary.
import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { cpSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const MODULE = 'github.com/oauth2-proxy/oauth2-proxy/v7'

async function install(folder) {
  if (process.env.OAUTH2_PROXY) return process.env.OAUTH2_PROXY
  const cwd = join(folder, 'proxy')
  cpSync(fileURLToPath(new URL('proxy', import.meta.url)), cwd, { recursive: true })
  const binary = join(cwd, 'oauth2-proxy')
  await promisify(execFile)('go', ['build', '-o', binary, MODULE], { cwd })
  return binary
}

function freePort() {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address()
      probe.close(() => resolve(port))
    })
  })
}

/** A browser that does not follow redirects, and keeps the cookies of the proxy. */
function createPerson(proxy) {
  const cookies = new Map()
  return async (url) => {
    const isProxy = url.startsWith(proxy)
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { accept: 'text/html', ...(isProxy && { cookie }) }
    const reply = await fetch(url, { headers, redirect: 'manual' })
    for (const line of isProxy ? reply.headers.getSetCookie() : []) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    return { status: reply.status, location: reply.headers.get('location') ?? '' }
  }
}

async function untilItAnswers(url, child) {
  for (let tries = 0; tries < 100 && child.exitCode === null; tries += 1) {
    const reply = await fetch(`${url}/ping`).catch(() => null)
    if (reply?.ok) return
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  throw new Error('oauth2-proxy did not start')
}

async function signIn(url) {
  const visit = createPerson(url)
  const away = await visit(`${url}/page`)
  const back = await visit(away.location)
  const arrived = await visit(back.location)
  const page = await visit(new URL(arrived.location, url).href)
  if (page.status !== 202) throw new Error(`${JSON.stringify({ away, back, arrived, page })}`)
}

/** Presents the callback of another user's sign-in. */
async function bringAnothers(url) {
  const [mine, other] = [createPerson(url), createPerson(url)]
  const back = await other((await other(`${url}/page`)).location)
  await mine(`${url}/page`)
  const { status } = await mine(back.location)
  if (status < 400) return
  throw new Error(`${status}`)
}

export async function checkProxy({ issuer, newClient }, folder) {
  const binary = await install(folder)
  const url = `http://127.0.0.1:${await freePort()}`
  const client = await newClient(`${url}/oauth2/callback`)
  const child = spawn(binary, [
    '--provider=oidc',
    `--oidc-issuer-url=${issuer}`,
    `--client-id=${client.client_id}`,
    `--client-secret=${client.client_secret}`,
    `--redirect-url=${client.redirect_uri}`,
    `--http-address=${new URL(url).host}`,
    `--cookie-secret=${randomBytes(16).toString('hex')}`,
    '--cookie-secure=false',
    '--code-challenge-method=S256',
    '--email-domain=example.com',
    '--skip-provider-button',
    '--upstream=static://202',
  ])
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      said += chunk
    })
  }
  try {
    await untilItAnswers(url, child)
    const lines = []
    for (const [name, action] of [
      ['signIn', signIn],
      ['anothers', bringAnothers],
    ]) {
      const problem = await action(url).then(
        () => null,
        (error) => error.message,
      )
      const result = problem === null ? 'accepted' : 'refused'
      lines.push(['oauth2-proxy', '-', name, result, `${problem ?? ''}`])
    }
    return lines
  } catch (error) {
    throw new Error(`${error.message}\n${said}`)
  } finally {
    child.kill()
  }
}
