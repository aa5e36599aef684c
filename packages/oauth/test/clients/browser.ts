import { buildSessionCookie } from '../support.ts'

export interface Decision {
  readonly user?: string
  readonly decision?: 'approve' | 'deny'
  /** Sends requests to servers that are reached without a network. */
  readonly fetch?: (url: URL | string, init: RequestInit) => Promise<Response>
}

/**
 * Does what a signed-in person's browser does with an authorization URL: opens it, presses a button
 * of the approval screen if there is one, and stops at the client's callback. Returns the callback
 * URL.
 */
export async function decideInBrowser(url: URL | string, choice: Decision = {}): Promise<URL> {
  const { user = 'ada', decision = 'approve', fetch = globalThis.fetch } = choice
  const cookie = buildSessionCookie(user)
  const page = await fetch(url, {
    headers: { cookie, accept: 'text/html' },
    redirect: 'manual',
  })
  if (page.status === 303) return locationOf(page, url)
  const html = await page.text()
  if (page.status !== 200) throw new Error(`No approval screen: ${page.status} ${html}`)
  const answered = await fetch(new URL(attribute(html, /action="([^"]+)"/), url), {
    method: 'POST',
    headers: { cookie, accept: 'text/html', origin: new URL(url).origin },
    body: new URLSearchParams({
      csrf_token: attribute(html, /name="csrf_token" value="([^"]+)"/),
      decision,
    }),
    redirect: 'manual',
  })
  return locationOf(answered, url)
}

function attribute(html: string, pattern: RegExp): string {
  const value = pattern.exec(html)?.[1]
  if (value === undefined) throw new Error(`The page has nothing like ${pattern}: ${html}`)
  return value.replaceAll('&amp;', '&')
}

function locationOf(response: Response, base: URL | string): URL {
  const location = response.headers.get('location')
  if (location === null) throw new Error(`Not sent anywhere: ${response.status}`)
  return new URL(location, base)
}
