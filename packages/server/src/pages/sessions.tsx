import type { Context, Hono } from 'hono'
import type { AppEnv } from '../http/variables.ts'
import type { OwnSession } from '../sessions/sessions.ts'
import { Confirmation, stays } from './parts/confirmation.tsx'
import { readOwnForm } from './parts/forms.ts'
import { requireUser, userOf } from './parts/page-context.ts'
import { renderPage } from './parts/render.tsx'
import { Moment, Table } from './parts/table.tsx'

/** Lists the person's sessions. Ending a session asks on a page of its own, and needs no script. */
export function addSessions(app: Hono<AppEnv>): void {
  app.get('/account/sessions', requireUser(), async (c) => {
    const page = c.get('page')
    const [sessions, present, applications] = await Promise.all([
      page.service.sessions.list(userOf(c).id),
      presentSession(c),
      listApplications(c),
    ])
    const others = sessions.filter(({ id }) => id !== present)
    return renderPage(
      c,
      { title: 'Where you are signed in' },
      <>
        <div class="heading">
          <div>
            <h1>Where you are signed in</h1>
            <p class="lead">
              End a session that is not yours or that you no longer need. Applications that you
              signed in to with it are told.
            </p>
          </div>
          {others.length > 0 && (
            <a class="button" href="/account/sessions/end-others">
              End all others
            </a>
          )}
        </div>
        <section class="card" aria-label="Your sessions">
          <Table
            caption="Your sessions"
            columns={['Where', 'Applications', 'Since', 'Last seen', 'Actions']}
            rows={sessions.map((session) =>
              cellsOf(session, {
                isPresent: session.id === present,
                applications: applications.get(session.id) ?? [],
              }),
            )}
          />
        </section>
      </>,
    )
  })

  app.get('/account/sessions/end', requireUser(), async (c) => {
    const sessions = await c.get('page').service.sessions.list(userOf(c).id)
    const asked = sessions.find(({ id }) => id === c.req.query('session'))
    if (!asked) return c.redirect('/account/sessions', 303)
    return renderPage(
      c,
      { title: 'End a session' },
      <Confirmation
        page={c.get('page')}
        title="End this session?"
        action="/account/sessions/end"
        fields={{ session: asked.id }}
        stay="Keep the session"
        go="End the session"
      >
        <p>
          Whoever uses <strong>{browserOf(asked)}</strong>
          {asked.address !== null && <> at {asked.address}</>} has to sign in again. The session
          began on <Moment at={asked.startedAt} />.
        </p>
      </Confirmation>,
    )
  })

  app.get('/account/sessions/end-others', requireUser(), (c) =>
    renderPage(
      c,
      { title: 'End all other sessions' },
      <Confirmation
        page={c.get('page')}
        title="End all other sessions?"
        action="/account/sessions/end-others"
        fields={{}}
        stay="Keep them"
        go="End them"
      >
        <p>Everywhere but here you have to sign in again.</p>
      </Confirmation>,
    ),
  )

  app.post('/account/sessions/end', requireUser(), async (c) => {
    const form = await readOwnForm(c)
    if (!stays(form)) await endSession(c, form.get('session') ?? '')
    return c.redirect('/account/sessions', 303)
  })

  app.post('/account/sessions/end-others', requireUser(), async (c) => {
    if (stays(await readOwnForm(c))) return c.redirect('/account/sessions', 303)
    const present = await presentSession(c)
    for (const { id } of await c.get('page').service.sessions.list(userOf(c).id)) {
      if (id !== present) await endSession(c, id)
    }
    return c.redirect('/account/sessions', 303)
  })
}

/** Nobody else's. Applications are told first: what they were not told of stays on the page. */
async function endSession(c: Context<AppEnv>, id: string): Promise<void> {
  const { sessions, oauth } = c.get('page').service
  const { id: userId } = userOf(c)
  const own = await sessions.list(userId)
  if (!own.some((session) => session.id === id)) return
  await oauth.endSession(id)
  await sessions.endOwn(userId, id)
}

async function presentSession(c: Context<AppEnv>): Promise<string | null> {
  const session = await c.get('page').service.sessions.find(c.req.header('cookie') ?? null)
  return session?.sessionId ?? null
}

/** The names of the applications that took part, by session. */
async function listApplications(c: Context<AppEnv>): Promise<ReadonlyMap<string, string[]>> {
  const { oauth, sessions } = c.get('page').service
  const { id: userId } = userOf(c)
  const own = await sessions.list(userId)
  const byHash = new Map(own.map(({ id }) => [oauth.sessions.hash(id), id]))
  const names = new Map<string, string[]>()
  for (const { sessionId, clientId } of await oauth.sessions.listByUser(userId)) {
    const id = byHash.get(sessionId)
    const client = id === undefined ? null : await oauth.clients.find(clientId)
    if (id === undefined || !client || client.revokedAt) continue
    names.set(id, [...(names.get(id) ?? []), client.name])
  }
  return names
}

interface SessionView {
  readonly isPresent: boolean
  readonly applications: readonly string[]
}

function cellsOf(session: OwnSession, { isPresent, applications }: SessionView) {
  const where = browserOf(session)
  return [
    <>
      <strong>{where}</strong>
      {session.address !== null && <span class="quiet-text"> {session.address}</span>}
    </>,
    applications.length === 0 ? (
      <span class="quiet-text">None</span>
    ) : (
      <bdi>{applications.join(', ')}</bdi>
    ),
    <Moment at={session.startedAt} />,
    isPresent ? 'This session' : <Moment at={session.seenAt} />,
    isPresent ? (
      <span class="quiet-text">Sign out above</span>
    ) : (
      <span class="actions">
        <a
          class="button small danger-quiet"
          href={`/account/sessions/end?session=${encodeURIComponent(session.id)}`}
          aria-label={`End the session of ${where}`}
        >
          End
        </a>
      </span>
    ),
  ]
}

function browserOf({ browser }: OwnSession): string {
  return browser ?? 'An unknown browser'
}
