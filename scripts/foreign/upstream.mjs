// People sign in to the service at an OpenID provider that is made with another library.
import { execFile, spawn } from 'node:child_process'
import { cpSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const SECRET = 'a secret of the client at the provider'
const MAIN = fileURLToPath(new URL('../../packages/server/dist/main.js', import.meta.url))

/** Signs people in. Returns the columns `library, preset, case, accepted or refused, detail`. */
export async function checkUpstream(folder) {
  const cwd = join(folder, 'upstream')
  cpSync(fileURLToPath(new URL('upstream', import.meta.url)), cwd, { recursive: true })
  await run('npm', ['install', '--no-audit', '--no-fund', '--silent'], { cwd })
  const port = await findFreePort()
  // A host of its own, because cookies do not distinguish ports.
  const url = `http://localhost:${port}`
  const children = []
  try {
    const callback = `${url}/login/with/foreign/callback`
    const provider = start(children, ['provider.mjs', callback, SECRET], { cwd })
    const issuer = await nextLine(provider, /^http:/)
    const settings = {
      signInWith: { custom: { foreign: { name: 'Foreign', issuer, clientId: 'tollgate' } } },
    }
    writeFileSync(join(cwd, 'tollgate.config.mjs'), `export default ${JSON.stringify(settings)}\n`)
    const service = start(children, [MAIN, 'serve'], {
      cwd,
      env: {
        ...process.env,
        PORT: String(port),
        TOLLGATE_DATA_DIR: join(cwd, 'data'),
        TOLLGATE_SIGN_IN_FOREIGN_SECRET: SECRET,
      },
    })
    await waitFor(`${url}/readyz`, service)
    return [
      await tryOut('signs in', async () => {
        // The first time creates an account, the second time finds it.
        for (let count = 0; count < 2; count += 1) {
          expectIn(await signIn(url, 'ada'), 'ada@example.com')
        }
      }),
      await tryOut('refuses an unverified address', async () => {
        expectIn(await signIn(url, 'eve'), 'has not verified your email address')
      }),
    ]
  } finally {
    for (const child of children) child.kill()
  }
}

async function tryOut(name, work) {
  try {
    await work()
    return ['oidc-provider', '-', name, 'accepted', '']
  } catch (error) {
    return ['oidc-provider', '-', name, 'refused', `${error.message}`]
  }
}

/** Signs in with a new browser, through the pages of both servers. Returns the last page. */
async function signIn(url, name) {
  const browser = createBrowser()
  let page = await browser.send(`${url}/login/with/foreign`, { return_to: '/account' })
  for (let step = 0; step < 5 && !page.url.startsWith(url); step += 1) {
    page = await browser.submit(page, { login: name, password: 'any' })
  }
  return page
}

/** A browser without scripts: it keeps cookies by host, and follows redirects. */
function createBrowser() {
  const jars = new Map()
  async function send(address, fields) {
    let next = { address, body: fields ? new URLSearchParams(fields) : undefined }
    for (let hops = 0; hops < 20; hops += 1) {
      const { host, origin } = new URL(next.address)
      const jar = jars.get(host) ?? jars.set(host, new Map()).get(host)
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
      const response = await fetch(next.address, {
        method: next.body ? 'POST' : 'GET',
        body: next.body,
        redirect: 'manual',
        headers: { cookie, ...(next.body && { origin }) },
      })
      for (const line of response.headers.getSetCookie()) {
        const [, key, value] = /^([^=]+)=([^;]*)/.exec(line) ?? []
        if (value === '' || /expires=Thu, 01 Jan 1970/i.test(line)) jar.delete(key)
        else jar.set(key, value)
      }
      const location = response.headers.get('location')
      if (!location) return { url: next.address, html: await response.text() }
      next = { address: new URL(location, next.address).href }
    }
    throw new Error(`Too many redirects from ${address}`)
  }
  return {
    send,
    /** Submits the first form of a page, with its hidden fields. */
    submit({ url, html }, fields) {
      const [, action] = /<form[^>]* action="([^"]*)"/.exec(html) ?? []
      if (action === undefined) throw new Error(`There is no form at ${url}: ${html.slice(0, 500)}`)
      const hidden = [...html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)]
      const values = Object.fromEntries(hidden.map(([, name, value]) => [name, value]))
      return send(new URL(action, url).href, { ...fields, ...values })
    },
  }
}

function expectIn({ url, html }, text) {
  if (!html.includes(text)) throw new Error(`${url} does not contain '${text}'`)
}

function start(children, args, options) {
  const child = spawn(process.execPath, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  children.push(child)
  child.said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) => {
      child.said = (child.said + text).slice(-4000)
    })
  }
  return child
}

async function nextLine(child, pattern) {
  for await (const line of createInterface({ input: child.stdout })) {
    if (pattern.test(line)) return line
  }
  throw new Error(`The provider did not start: ${child.said}`)
}

async function waitFor(address, child) {
  for (let attempt = 0; attempt < 600 && child.exitCode === null; attempt += 1) {
    const isReady = await fetch(address).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isReady) return
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  throw new Error(`The service did not start: ${child.said}`)
}

async function findFreePort() {
  const server = createServer()
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address()
  await new Promise((resolve) => server.close(resolve))
  return port
}
