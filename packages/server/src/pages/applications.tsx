import type { Client } from '@tollgate/oauth'
import type { Hono } from 'hono'
import type { ServiceContext } from '../context.ts'
import type { AppEnv, PageContext } from '../http/variables.ts'
import { Confirmation, isCancelled } from './parts/confirmation.tsx'
import { getSignedInUser, readCsrfForm, requireUser } from './parts/forms.ts'
import { Heading } from './parts/layout.tsx'
import { renderPage } from './parts/render.tsx'
import { Day, Empty, ScopeList, Table } from './parts/table.tsx'

/**
 * Adds the page that lists the applications with access to the person's account, and the page that
 * confirms a revocation. Revoking ends the approval with all its tokens, including tokens issued
 * after the page was shown, and needs no JavaScript.
 */
export function addApplicationsPage(app: Hono<AppEnv>): void {
  app.get('/applications', requireUser(), async (c) => {
    const page = c.get('page')
    const applications = await listApplications(page.service, getSignedInUser(c).id)
    const { t } = page
    return renderPage(
      c,
      { title: t('applications.title') },
      <>
        <Heading title={t('applications.title')} lead={t('applications.lead')} />
        <section class="card" aria-label={t('applications.title')}>
          {applications.length === 0 ? (
            <Empty title={t('applications.empty')}>{t('applications.emptyText')}</Empty>
          ) : (
            <Table
              caption={t('applications.title')}
              columns={[
                t('applications.application'),
                t('tokens.allowed'),
                t('applications.approved'),
                t('applications.lastToken'),
                t('table.actions'),
              ]}
              rows={applications.map((application) => renderApplicationCells(application, page))}
            />
          )}
        </section>
      </>,
    )
  })

  app.get('/applications/revoke', requireUser(), async (c) => {
    const page = c.get('page')
    const applications = await listApplications(page.service, getSignedInUser(c).id)
    const asked = applications.find(({ client }) => client.id === c.req.query('client'))
    if (!asked) return c.redirect('/applications', 303)
    const { client, scopes } = asked
    const { t } = page
    const application = <bdi>{client.name}</bdi>
    return renderPage(
      c,
      { title: t('applications.revokeTitle') },
      <Confirmation
        title={t.parts('applications.revokeQuestion', { application })}
        action="/applications/revoke"
        fields={{ client: client.id }}
        cancelLabel={t('applications.stay')}
        confirmLabel={t('tokens.revoke')}
      >
        <p>{t.parts('applications.revokeText', { application })}</p>
        <ScopeList names={scopes} scopes={page.service.config.settings.scopes} />
      </Confirmation>,
    )
  })

  app.post('/applications/revoke', requireUser(), async (c) => {
    const form = await readCsrfForm(c)
    const client = form.get('client') ?? ''
    if (!isCancelled(form))
      await c.get('page').service.oauth.consents.revoke(getSignedInUser(c).id, client)
    return c.redirect('/applications', 303)
  })
}

interface Application {
  readonly client: Client
  readonly scopes: readonly string[]
  /** When the person approved it first, as far as known. */
  readonly since: Date
  /** When it last got an access token for the person. `null` if it has none now. */
  readonly lastToken: Date | null
}

/** Grants that need a person's approval. Tokens of other grants are not listed. */
const APPROVED = new Set(['authorization_code', 'implicit'])

/** The applications with access to the person's account, newest first. */
export async function listApplications(
  { oauth }: ServiceContext,
  userId: string,
): Promise<readonly Application[]> {
  const [consents, tokens] = await Promise.all([
    oauth.consents.listByUser(userId),
    oauth.tokens.listByUser(userId),
  ])
  const approvals = [
    ...consents.map(({ clientId, scopes, updatedAt }) => ({ clientId, scopes, since: updatedAt })),
    ...tokens
      .filter((token) => APPROVED.has(token.grantType))
      .map(({ clientId, scopes, createdAt }) => ({ clientId, scopes, since: createdAt })),
  ]
  const ids = [...new Set(approvals.map(({ clientId }) => clientId))]
  const clients = await oauth.clients.findMany(ids)
  return [...clients.values()]
    .filter((client) => client.revokedAt === null && !client.firstParty)
    .map((client) => {
      const its = approvals.filter(({ clientId }) => clientId === client.id)
      const issued = tokens.flatMap((token) =>
        token.clientId === client.id ? [token.issuedAt.getTime()] : [],
      )
      return {
        client,
        scopes: [...new Set(its.flatMap(({ scopes }) => scopes))],
        since: new Date(Math.min(...its.map(({ since }) => since.getTime()))),
        lastToken: issued.length > 0 ? new Date(Math.max(...issued)) : null,
      }
    })
    .sort((a, b) => b.since.getTime() - a.since.getTime())
}

function renderApplicationCells(application: Application, page: PageContext) {
  const { client, scopes, since, lastToken } = application
  return [
    <strong>
      <bdi>{client.name}</bdi>
    </strong>,
    <ScopeList names={scopes} scopes={page.service.config.settings.scopes} />,
    <Day at={since} />,
    lastToken === null ? page.t('applications.noToken') : <Day at={lastToken} />,
    <span class="actions">
      <a
        class="button small danger-quiet"
        href={`/applications/revoke?client=${encodeURIComponent(client.id)}`}
        aria-label={page.t('tokens.revokeName', { name: client.name })}
      >
        {page.t('tokens.revoke')}
      </a>
    </span>,
  ]
}
