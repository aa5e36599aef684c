import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

/**
 * Runs one step of a client. A failure ends the program; the steps until then are already printed.
 */
export async function step(name, work) {
  const result = await work()
  process.stdout.write(`ok ${name}\n`)
  return result
}

export function fact(name, value) {
  process.stdout.write(`${name}: ${value}\n`)
}

export function versionOf(name) {
  return JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8')).version
}

/** Returns the configuration with which an SDK for Node finds the sandbox. */
export function sandboxConfig() {
  const { hostname: host, port, protocol } = new URL(process.env.STRIPE_URL)
  return { host, port, protocol: protocol.slice(0, -1), maxNetworkRetries: 0 }
}

/** Starts a server that records requests and answers with the status from `respond`. */
export async function listen(respond = () => 200) {
  const received = []
  const server = createServer(async (request, response) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const post = { headers: request.headers, body: Buffer.concat(chunks).toString('utf8') }
    received.push(post)
    response.statusCode = await respond(post)
    response.end()
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    received,
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}

/** Waits until `find` returns something. */
export async function until(what, find) {
  for (let tries = 0; tries < 400; tries++) {
    const found = await find()
    if (found) return found
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`${what} did not happen`)
}

/** Submits a form of one of Stripe's pages, like a browser. */
export async function submit(url, fields) {
  const token = new URL(url).searchParams.get('token')
  const body = new URLSearchParams(token === null ? fields : { token, ...fields })
  const response = await fetch(url, { method: 'POST', body, redirect: 'manual' })
  const text = await response.text()
  if (response.status >= 400) throw new Error(`${response.status} ${text.slice(0, 300)}`)
  return response.headers.get('location')
}
