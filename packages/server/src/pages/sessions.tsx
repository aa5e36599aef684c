import type { Context, Hono } from 'hono'
import type { AppEnv } from '../http/variables.ts'
import type { PageText } from '../messages/messages.ts'
import type { OwnSession } from '../sessions/sessions.ts'
import { describeBrowserName } from './parts/browser-name.ts'
import { Confirmation, isCancelled } from './parts/confirmation.tsx'
import { getSignedInUser, readCsrfForm, requireUser } from './parts/forms.ts'
import { Heading } from './parts/layout.tsx'
import { renderPage } from './parts/render.tsx'
import { Moment, Table } from './parts/table.tsx'

/**
 * Adds the page that lists the person's sessions, and the pages that confirm ending them. They need
 * no JavaScript.
 */
export function addSessionPages(app: Hono<AppEnv>): void {
  app.get('/account/sessions', requireUser(), async (c) => {
    const page = c.get('page')
    const [sessions, present, applications] = await Promise.all([
      page.service.sessions.list(getSignedInUser(c).id),
      findCurrentSession(c),
      listApplications(c),
    ])
    const { t } = page
    const others = sessions.filter(({ id }) => id !== present)
    return renderPage(
      c,
      { title: t('sessions.title') },
      <>
        <Heading title={t('sessions.title')} lead={t('sessions.lead')}>
          {others.length > 0 && (
            <a class="button" href="/account/sessions/end-others">
              {t('sessions.endOthers')}
            </a>
          )}
        </Heading>
        <section class="card" aria-label={t('sessions.caption')}>
          <Table
            caption={t('sessions.caption')}
            columns={[
              t('sessions.where'),
              t('sessions.applications'),
              t('sessions.since'),
              t('sessions.lastSeen'),
              t('table.actions'),
            ]}
            rows={sessions.map((session) =>
              renderSessionCells(session, {
                t,
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
    const sessions = await c.get('page').service.sessions.list(getSignedInUser(c).id)
    const asked = sessions.find(({ id }) => id === c.req.query('session'))
    if (!asked) return c.redirect('/account/sessions', 303)
    const { t } = c.get('page')
    const said = {
      browser: <strong>{describeBrowserName(asked.browser, t)}</strong>,
      moment: <Moment at={asked.startedAt} />,
    }
    return renderPage(
      c,
      { title: t('sessions.end.title') },
      <Confirmation
        title={t('sessions.end.question')}
        action="/account/sessions/end"
        fields={{ session: asked.id }}
        cancelLabel={t('sessions.end.stay')}
        confirmLabel={t('sessions.end.go')}
      >
        <p>
          {asked.address === null
            ? t.parts('sessions.end.text', said)
            : t.parts('sessions.end.textAt', { ...said, address: asked.address })}
        </p>
      </Confirmation>,
    )
  })

  app.get('/account/sessions/end-others', requireUser(), (c) => {
    const { t } = c.get('page')
    return renderPage(
      c,
      { title: t('sessions.endOthers.title') },
      <Confirmation
        title={t('sessions.endOthers.question')}
        action="/account/sessions/end-others"
        fields={{}}
        cancelLabel={t('sessions.endOthers.stay')}
        confirmLabel={t('sessions.endOthers.go')}
      >
        <p>{t('sessions.endOthers.text')}</p>
      </Confirmation>,
    )
  })

  app.post('/account/sessions/end', requireUser(), async (c) => {
    const form = await readCsrfForm(c)
    if (!isCancelled(form)) await endSession(c, form.get('session') ?? '')
    return c.redirect('/account/sessions', 303)
  })

  app.post('/account/sessions/end-others', requireUser(), async (c) => {
    if (isCancelled(await readCsrfForm(c))) return c.redirect('/account/sessions', 303)
    const present = await findCurrentSession(c)
    for (const { id } of await c.get('page').service.sessions.list(getSignedInUser(c).id)) {
      if (id !== present) await endSession(c, id)
    }
    return c.redirect('/account/sessions', 303)
  })
}

/**
 * Ends one of the person's own sessions. Applications are notified first: if that fails, the
 * session stays in the list.
 */
async function endSession(c: Context<AppEnv>, id: string): Promise<void> {
  const { sessions, oauth } = c.get('page').service
  const { id: userId } = getSignedInUser(c)
  const own = await sessions.list(userId)
  if (!own.some((session) => session.id === id)) return
  await oauth.endSession(id)
  await sessions.endOwn(userId, id)
}

async function findCurrentSession(c: Context<AppEnv>): Promise<string | null> {
  const session = await c.get('page').service.sessions.find(c.req.header('cookie') ?? null)
  return session?.sessionId ?? null
}

/** The names of the applications that each session signed in to, by session id. */
async function listApplications(c: Context<AppEnv>): Promise<ReadonlyMap<string, string[]>> {
  const { oauth, sessions } = c.get('page').service
  const { id: userId } = getSignedInUser(c)
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
  readonly t: PageText
  readonly isPresent: boolean
  readonly applications: readonly string[]
}

function renderSessionCells(session: OwnSession, { t, isPresent, applications }: SessionView) {
  const where = describeBrowserName(session.browser, t)
  return [
    <>
      <strong>{where}</strong>
      {session.address !== null && <span class="quiet-text"> {session.address}</span>}
    </>,
    applications.length === 0 ? (
      <span class="quiet-text">{t('table.none')}</span>
    ) : (
      <bdi>{applications.join(', ')}</bdi>
    ),
    <Moment at={session.startedAt} />,
    isPresent ? t('sessions.this') : <Moment at={session.seenAt} />,
    isPresent ? (
      <span class="quiet-text">{t('sessions.signOutAbove')}</span>
    ) : (
      <span class="actions">
        <a
          class="button small danger-quiet"
          href={`/account/sessions/end?session=${encodeURIComponent(session.id)}`}
          aria-label={t('sessions.endOf', { browser: where })}
        >
          {t('sessions.end')}
        </a>
      </span>
    ),
  ]
}
