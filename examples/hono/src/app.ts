import type { AuthorizationServer } from '@tollgate/oauth'
import { forHono } from '@tollgate/oauth/hono'
import { Hono } from 'hono'
import { setCookie } from 'hono/cookie'
import { html } from 'hono/html'
import { secureHeaders } from 'hono/secure-headers'
import type { DemoUsers, User } from './users.ts'

/** The smallest honest app: pages with a session, an API with tokens. */
export function createApp(oauth: AuthorizationServer<User>, users: DemoUsers): Hono {
  const { routes, auth, scopes, scope, freshToken } = forHono(oauth)
  const app = new Hono()
  const secure = oauth.issuer.startsWith('https:')

  app.use(routes)

  app.get('/api/user', auth('api'), async (c) => c.json(await c.get('user').find()))
  app.get('/api/orders', auth('api'), scopes('place-orders', 'check-status'), (c) =>
    c.json([{ id: 1, status: 'shipped', owner: c.get('user').id }]),
  )
  app.get('/api/orders/status', auth('api'), scope('place-orders', 'check-status'), (c) =>
    c.json({ status: 'shipped', mayOrder: c.get('user').tokenCan('place-orders') }),
  )

  app.use(secureHeaders())
  app.get('/', freshToken(), async (c) => {
    const person = await users.fromRequest(c.req.raw)
    if (!person) return c.redirect('/login')
    return c.html(html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Tollgate example</title>
<meta name="csrf-token" content="${c.get('csrfToken')}"></head>
<body><h1>Signed in as ${person.id}</h1>
<form method="post" action="/logout"><button>Sign out</button></form></body></html>`)
  })

  app.get('/login', (c) => c.html(loginPage(c.req.query('return_to') ?? '/', '')))
  app.post('/login', async (c) => {
    if (c.req.header('origin') !== oauth.issuer) return c.text('Wrong origin', 403)
    const form = new URLSearchParams(await c.req.text())
    const returnTo = form.get('return_to') ?? '/'
    const user = await users.findByCredentials(form.get('email') ?? '', form.get('password') ?? '')
    if (!user) return c.html(loginPage(returnTo, 'E-mail or password is wrong.'), 401)
    const session = users.startSession(user)
    setCookie(c, 'session', session, { httpOnly: true, sameSite: 'Lax', secure, path: '/' })
    return c.redirect(onThisHost(returnTo), 303)
  })
  app.post('/logout', async (c) => {
    const person = await users.fromRequest(c.req.raw)
    if (person && c.req.header('origin') === oauth.issuer) {
      users.endSession(person.sessionId)
      await oauth.endSession(person.sessionId)
    }
    return c.redirect('/login', 303)
  })
  return app
}

/** Never another host: `//evil.example` and `/\evil.example` are addresses elsewhere. */
function onThisHost(returnTo: string): string {
  return /^\/(?![/\\])/.test(returnTo) ? returnTo : '/'
}

function loginPage(returnTo: string, problem: string) {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Sign in</title>
<meta name="viewport" content="width=device-width, initial-scale=1"></head>
<body><h1>Sign in</h1><p role="alert">${problem}</p>
<form method="post" action="/login">
<input type="hidden" name="return_to" value="${returnTo}">
<p><label>E-mail <input name="email" type="email" autocomplete="username" required></label></p>
<p><label>Password <input name="password" type="password" autocomplete="current-password" required></label></p>
<button>Sign in</button></form></body></html>`
}
