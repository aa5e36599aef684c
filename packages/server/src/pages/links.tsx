import type { Context, Hono } from 'hono'
import { isFreshSignIn } from '../admin/authorize.ts'
import type { AppEnv } from '../http/variables.ts'
import type { PageMessages } from '../messages/en.ts'
import { LastWayToSignIn } from '../users/linked-identities.ts'
import { Refusal } from './parts/fields.tsx'
import { getSignedInUser, readCsrfForm, requireUser } from './parts/forms.ts'
import { CsrfForm, Heading, Note } from './parts/layout.tsx'
import { renderPage } from './parts/render.tsx'
import { Moment, Table } from './parts/table.tsx'
import { LINKS_PATH, redirectToProvider } from './sign-in-with.tsx'

/** Adds the page on which people link and unlink their accounts at other providers. */
export function addLinkedAccountsPage(app: Hono<AppEnv>): void {
  app.get(LINKS_PATH, requireUser(), (c) => {
    const done = NOTICES.find((name) => c.req.query(name) !== undefined)
    return linksPage(c, { ...(done && { notice: `links.${done}` }) })
  })

  app.post(`${LINKS_PATH}/with/:provider`, requireUser(), async (c) => {
    await readCsrfForm(c)
    const { service, signedInAt } = c.get('page')
    const provider = service.upstream.find(c.req.param('provider'))
    if (!provider) return c.notFound()
    const session = await service.sessions.find(c.req.header('cookie') ?? null)
    // Otherwise an intruder at an unlocked computer could add an account of their own.
    if (!session || !signedInAt || !isFreshSignIn(signedInAt, service.clock.now())) {
      return c.redirect(SIGN_IN_AGAIN, 303)
    }
    const linkFor = { userId: session.userId, sessionId: session.sessionId }
    return redirectToProvider(c, provider, { returnTo: LINKS_PATH, isFresh: false, linkFor })
  })

  app.post(`${LINKS_PATH}/remove`, requireUser(), async (c) => {
    const form = await readCsrfForm(c)
    const { service, t } = c.get('page')
    const usable = service.upstream.providers.map(({ id }) => id)
    const user = getSignedInUser(c)
    try {
      const link = await service.users.identities.unlink(user.id, form.get('link') ?? '', usable)
      const name = link && (service.upstream.find(link.provider)?.name ?? link.provider)
      if (name) await service.recovery.notify(user, 'sign_in_method_removed', name)
    } catch (error) {
      if (!(error instanceof LastWayToSignIn)) throw error
      return linksPage(c, { problem: t('links.last') })
    }
    return c.redirect(`${LINKS_PATH}?removed`, 303)
  })
}

const SIGN_IN_AGAIN = `/login?${new URLSearchParams({ prompt: 'login', return_to: LINKS_PATH })}`

const NOTICES = ['linked', 'removed'] as const

interface LinksView {
  readonly notice?: Extract<keyof PageMessages, `links.${(typeof NOTICES)[number]}`>
  readonly problem?: string
}

async function linksPage(c: Context<AppEnv>, { notice, problem }: LinksView) {
  const { service, t } = c.get('page')
  const { providers } = service.upstream
  const links = await service.users.identities.list(getSignedInUser(c).id)
  const nameOf = (id: string) => service.upstream.find(id)?.name ?? id
  const rows = links.map(({ id, provider, email, createdAt, usedAt }) => [
    <>
      <strong>{nameOf(provider)}</strong>
      {email !== null && (
        <span class="quiet-text">
          {' '}
          <bdi>{email}</bdi>
        </span>
      )}
    </>,
    <Moment at={createdAt} />,
    <Moment at={usedAt} />,
    <CsrfForm action={`${LINKS_PATH}/remove`}>
      <input type="hidden" name="link" value={id} />
      <button
        type="submit"
        class="small"
        aria-label={t('links.removeOf', { provider: nameOf(provider) })}
      >
        {t('links.remove')}
      </button>
    </CsrfForm>,
  ])
  const columns = [t('links.provider'), t('links.since'), t('links.used'), t('table.actions')]
  const formTargets = providers.map(({ origin }) => origin)
  return renderPage(
    c,
    { title: t('links.title'), status: problem ? 409 : 200, formTargets },
    <>
      <Heading title={t('links.title')} lead={t('links.lead')} />
      <Note tone="good" text={notice && t(notice)} />
      <Refusal text={problem} />
      <section class="card" aria-label={t('links.title')}>
        {links.length === 0 ? (
          <p>{t('links.none')}</p>
        ) : (
          <Table caption={t('links.title')} columns={columns} rows={rows} />
        )}
      </section>
      {providers.length > 0 && (
        <section class="card stack" aria-labelledby="add-title">
          <h2 id="add-title">{t('links.add')}</h2>
          <div class="row">
            {providers.map(({ id, name }) => (
              <CsrfForm action={`${LINKS_PATH}/with/${id}`}>
                <button type="submit">{t('links.addOf', { provider: name })}</button>
              </CsrfForm>
            ))}
          </div>
        </section>
      )}
      <p class="aside">
        <a href="/account">{t('account.title')}</a>
      </p>
    </>,
  )
}
