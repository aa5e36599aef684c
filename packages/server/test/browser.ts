/**
 * A minimal browser for tests without one: keeps cookies, sends an origin, and does not follow
 * redirects.
 */
export function createBrowser(origin: string) {
  const cookies = new Map<string, string>()

  async function request(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers)
    if (!headers.has('accept')) headers.set('accept', 'text/html')
    if (cookies.size > 0) {
      headers.set('cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '))
    }
    const response = await fetch(new URL(path, origin), { ...init, headers, redirect: 'manual' })
    for (const header of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(header) ?? []
      if (/Max-Age=0\b/.test(header)) cookies.delete(name)
      else cookies.set(name, value)
    }
    return response
  }

  const self = {
    cookies,
    get: (path: string, headers: Record<string, string> = {}) => request(path, { headers }),
    post: (path: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
      request(path, {
        method: 'POST',
        headers: { origin, ...headers },
        body: new URLSearchParams(form),
      }),
    request,
    /** The CSRF token on a page of the signed-in person. */
    async csrfToken(): Promise<string> {
      const html = await (await self.get('/')).text()
      return /name="csrf-token" content="([^"]+)"/.exec(html)?.[1] ?? ''
    },
    signIn: (email: string, password: string) => self.post('/login', { email, password }),
    /** Calls the JSON API in cookie mode, as the pages' own script does. */
    async api(path: string, init: { method?: string; body?: unknown } = {}) {
      const response = await request(path, {
        method: init.method ?? 'GET',
        headers: {
          origin,
          accept: 'application/json',
          'x-csrf-token': await self.csrfToken(),
          ...(init.body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(init.body === undefined ? {} : { body: JSON.stringify(init.body) }),
      })
      const text = await response.text()
      return { status: response.status, body: text === '' ? null : JSON.parse(text) }
    },
  }
  return self
}
