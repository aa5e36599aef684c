/** Helpers for subjects on bare `node:http`. */

/** @param {import('node:http').IncomingMessage} request */
export function readBody(request) {
  return new Promise((resolve, reject) => {
    const chunks = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => resolve(Buffer.concat(chunks).toString()))
    request.on('error', reject)
  })
}

export async function readForm(request) {
  return Object.fromEntries(new URLSearchParams(await readBody(request)))
}

/** @returns {[path: string, query: Record<string, string>]} */
export function splitUrl(url) {
  const at = url.indexOf('?')
  if (at === -1) return [url, {}]
  return [url.slice(0, at), Object.fromEntries(new URLSearchParams(url.slice(at + 1)))]
}

export function sendJson(response, status, body) {
  const json = typeof body === 'string' ? body : JSON.stringify(body)
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(json),
    'Cache-Control': 'no-store',
  }
  response.writeHead(status, headers).end(json)
}

export const sendRedirect = (response, location) =>
  response.writeHead(302, { Location: location }).end()

/**
 * Cookies of the application's own session, for subjects that leave sessions to the application.
 */
export const sessionCookies = (users) => users.map((user) => `session=${user}`)
export const readSession = (request) => request.headers.cookie?.slice('session='.length)
