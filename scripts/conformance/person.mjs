// A user with a minimal browser: signs in, approves, and follows redirects.

/** Follows an authorization request to the redirect of the client, which is visited as well. */
export async function approveAt(address, { person, pages }) {
  const cookies = new Map()
  const visit = async (url, form) => {
    const reply = await fetch(url, {
      redirect: 'manual',
      headers: {
        accept: 'text/html',
        origin: new URL(url).origin,
        cookie: [...cookies].map((pair) => pair.join('=')).join('; '),
      },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    })
    for (const line of reply.headers.getSetCookie()) {
      const [name, value] = line.split(';')[0].split('=')
      cookies.set(name, value)
    }
    return reply
  }
  const nextOf = (reply, url) => {
    const location = reply.headers.get('location')
    if (location === null) throw new Error(`${url} led nowhere: ${reply.status}`)
    return new URL(location, url).href
  }
  const signInAt = nextOf(await visit(address), address)
  if (new URL(signInAt).pathname !== pages.signIn) throw new Error(`No sign-in: ${signInAt}`)
  const asking = nextOf(await visit(signInAt, { ...person }), signInAt)
  const html = await (await visit(asking)).text()
  const action = /action="([^"]+)"/.exec(html)?.[1].replaceAll('&amp;', '&')
  const csrf = /name="csrf_token" value="([^"]+)"/.exec(html)?.[1]
  if (!action || !csrf) throw new Error(`There is no question at ${asking}`)
  const decided = new URL(action, asking).href
  const reply = await visit(decided, { csrf_token: csrf, decision: 'approve' })
  await fetch(nextOf(reply, decided))
}
