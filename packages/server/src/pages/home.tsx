import type { Hono } from 'hono'
import type { AppEnv } from '../http/variables.ts'
import { requireUser, userOf } from './page-context.ts'
import { renderPage } from './render.tsx'

export function addHome(app: Hono<AppEnv>): void {
  app.get('/', requireUser(), (c) => {
    const user = userOf(c)
    return renderPage(
      c,
      { title: 'Home' },
      <section class="card">
        <h1>Welcome{user.name ? `, ${user.name}` : ''}</h1>
        <p>
          You are signed in as <strong>{user.email}</strong>.
        </p>
      </section>,
    )
  })
}
