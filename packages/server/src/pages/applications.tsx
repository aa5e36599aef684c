import type { Client } from '@tollgate/oauth'
import type { Hono } from 'hono'
import type { ServiceContext } from '../context.ts'
import type { AppEnv, PageContext } from '../http/variables.ts'
import { Confirmation, stays } from './parts/confirmation.tsx'
import { readOwnForm } from './parts/forms.ts'
import { requireUser, userOf } from './parts/page-context.ts'
import { renderPage } from './parts/render.tsx'
import { ScopeList } from './parts/scopes.tsx'
import { Day, Empty, Table } from './parts/table.tsx'

/**
 * What others may do in the person's name. Revoking asks on a page of its own, needs no script, and ends
 * the approval with every token that rests on it in one step, also those that came after the page.
 */
export function addApplications(app: Hono<AppEnv>): void {
  app.get('/applications', requireUser(), async (c) => {
    const page = c.get('page')
    const applications = await listApplications(page.service, userOf(c).id)
    return renderPage(
      c,
      { title: 'Authorized applications' },
      <>
        <div class="heading">
          <div>
            <h1>Authorized applications</h1>
            <p class="lead">Applications you have given access to your account.</p>
          </div>
        </div>
        <section class="card" aria-label="Authorized applications">
          {applications.length === 0 ? (
            <Empty title="No applications yet">
              Once you approve an application it is listed here, and you can take its access away.
            </Empty>
          ) : (
            <Table
              caption="Authorized applications"
              columns={['Application', 'Allowed to', 'Since', 'Actions']}
              rows={applications.map((application) => cellsOf(application, page))}
            />
          )}
        </section>
      </>,
    )
  })

  app.get('/applications/revoke', requireUser(), async (c) => {
    const page = c.get('page')
    const applications = await listApplications(page.service, userOf(c).id)
    const asked = applications.find(({ client }) => client.id === c.req.query('client'))
    if (!asked) return c.redirect('/applications', 303)
    const { client, scopes } = asked
    return renderPage(
      c,
      { title: 'Revoke access' },
      <Confirmation
        page={page}
        title={
          <>
            Revoke the access of <bdi>{client.name}</bdi>?
          </>
        }
        action="/applications/revoke"
        fields={{ client: client.id }}
        stay="Keep the access"
        go="Revoke"
      >
        <p>
          <bdi>{client.name}</bdi> loses access to your account at once, with all its tokens. It can
          ask you again. It is allowed to:
        </p>
        <ScopeList names={scopes} scopes={page.service.config.settings.scopes} />
      </Confirmation>,
    )
  })

  app.post('/applications/revoke', requireUser(), async (c) => {
    const form = await readOwnForm(c)
    const client = form.get('client') ?? ''
    if (!stays(form)) await c.get('page').service.oauth.consents.revoke(userOf(c).id, client)
    return c.redirect('/applications', 303)
  })
}

interface Application {
  readonly client: Client
  readonly scopes: readonly string[]
  readonly since: Date
}

/** Tokens that a person has given by approving; the others are the application's own affair. */
const APPROVED = new Set(['authorization_code', 'implicit'])

async function listApplications(
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
  const clients = await Promise.all(ids.map((id) => oauth.clients.find(id)))
  return clients
    .filter((client) => client !== null)
    .filter((client) => client.revokedAt === null && !client.firstParty)
    .map((client) => {
      const its = approvals.filter(({ clientId }) => clientId === client.id)
      return {
        client,
        scopes: [...new Set(its.flatMap(({ scopes }) => scopes))],
        since: new Date(Math.min(...its.map(({ since }) => since.getTime()))),
      }
    })
    .sort((a, b) => b.since.getTime() - a.since.getTime())
}

function cellsOf({ client, scopes, since }: Application, page: PageContext) {
  return [
    <strong>
      <bdi>{client.name}</bdi>
    </strong>,
    <ScopeList names={scopes} scopes={page.service.config.settings.scopes} />,
    <Day at={since} />,
    <span class="actions">
      <a
        class="button small danger-quiet"
        href={`/applications/revoke?client=${encodeURIComponent(client.id)}`}
        aria-label={`Revoke ${client.name}`}
      >
        Revoke
      </a>
    </span>,
  ]
}
