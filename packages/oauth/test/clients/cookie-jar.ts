/** Keeps the cookies of one application, as a person's browser does. */
export function createCookieJar(send: (request: Request) => Promise<Response>) {
  const cookies = new Map<string, string>()
  return {
    cookies,
    async fetch(url: URL | string, init: RequestInit = {}): Promise<Response> {
      const headers = new Headers(init.headers)
      headers.set('cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '))
      const reply = await send(new Request(url, { ...init, headers, redirect: 'manual' }))
      for (const line of reply.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
        if (value === '' || /Max-Age=0\b/i.test(line)) cookies.delete(name)
        else cookies.set(name, value)
      }
      return reply
    },
  }
}
