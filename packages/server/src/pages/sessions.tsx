import type { Context, Hono } from 'hono'
import type { AppEnv, PageContext } from '../http/variables.ts'
import type { OwnSession } from '../sessions/sessions.ts'
import { ConfirmDialog } from './parts/dialogs.tsx'
import { readOwnForm } from './parts/forms.ts'
import { CsrfField } from './parts/layout.tsx'
import { requireUser, userOf } from './parts/page-context.ts'
import { renderPage } from './parts/render.tsx'
import { Moment, Table } from './parts/table.tsx'

/** Where somebody is signed in. Ending one is a plain form, which needs no script. */
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
          {others.length > 0 && <EndOthers page={page} />}
        </div>
        <section class="card" aria-label="Your sessions">
          <Table
            caption="Your sessions"
            columns={['Where', 'Applications', 'Since', 'Last seen', 'Actions']}
            rows={sessions.map((session) =>
              cellsOf(session, {
                page,
                isPresent: session.id === present,
                applications: applications.get(session.id) ?? [],
              }),
            )}
          />
        </section>
        <ConfirmDialog />
      </>,
    )
  })

  app.post('/account/sessions/end', requireUser(), async (c) => {
    const form = await readOwnForm(c)
    await endSession(c, form.get('session') ?? '')
    return c.redirect('/account/sessions', 303)
  })

  app.post('/account/sessions/end-others', requireUser(), async (c) => {
    await readOwnForm(c)
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
  readonly page: PageContext
  readonly isPresent: boolean
  readonly applications: readonly string[]
}

function cellsOf(session: OwnSession, { page, isPresent, applications }: SessionView) {
  const where = session.browser ?? 'An unknown browser'
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
      <form
        method="post"
        action="/account/sessions/end"
        class="actions"
        data-confirm
        data-title="End this session?"
        data-text={`Whoever uses ${where} has to sign in again.`}
        data-action="End"
      >
        <CsrfField page={page} />
        <input type="hidden" name="session" value={session.id} />
        <button type="submit" class="small danger-quiet" aria-label={`End the session of ${where}`}>
          End
        </button>
      </form>
    ),
  ]
}

const EndOthers = ({ page }: { page: PageContext }) => (
  <form
    method="post"
    action="/account/sessions/end-others"
    data-confirm
    data-title="End all other sessions?"
    data-text="Everywhere but here you have to sign in again."
    data-action="End them"
  >
    <CsrfField page={page} />
    <button type="submit">End all others</button>
  </form>
)
