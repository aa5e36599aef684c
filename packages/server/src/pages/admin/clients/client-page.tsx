import type { Context, Hono } from 'hono'
import type { FC } from 'hono/jsx'
import type { OperatorActor } from '../../../admin/audit/caller.ts'
import type { AdminProblem } from '../../../admin/problems.ts'
import type { ServiceContext } from '../../../context.ts'
import type { AppEnv } from '../../../http/variables.ts'
import type { PageText } from '../../../messages/messages.ts'
import { isCancelled } from '../../parts/confirmation.tsx'
import { Copyable } from '../../parts/dialogs.tsx'
import { readCsrfForm } from '../../parts/forms.ts'
import { usePage } from '../../parts/layout.tsx'
import { BreakableUrl, Fact, Moment, ScopeList } from '../../parts/table.tsx'
import { buildAuditUrl } from '../audit/entry.tsx'
import {
  AdminForm,
  getOperator,
  mayCall,
  performOrShowProblem,
  renderAdmin,
  renderConfirmation,
  requireRole,
  runOperation,
} from '../parts.tsx'
import {
  APPLICATIONS_PATH,
  type ClientJson,
  describeGrant,
  hasSecret,
  isManagement,
  pathOf,
} from './client.ts'
import { ClientBadge, LastUsed } from './list.tsx'
import { readClientOfUrl } from './secret.tsx'

const NOTICES = {
  created: 'adminClients.wasCreated',
  saved: 'adminClients.wasSaved',
  same: 'adminClients.wasSame',
  verified: 'adminClients.wasVerified',
  unverified: 'adminClients.wasUnverified',
  ended: 'adminClients.wasEnded',
} as const

/** Adds the page of an application, and the actions that need no form fields. */
export function addClientPage(app: Hono<AppEnv>): void {
  const path = `${APPLICATIONS_PATH}/:id`
  app.get(path, requireRole('viewer'), async (c) => {
    const done = c.req.query('done') ?? ''
    const notice = Object.hasOwn(NOTICES, done) ? NOTICES[done as keyof typeof NOTICES] : null
    return renderClient(c, await readClientOfUrl(c), { notice })
  })
  for (const [action, done] of [
    ['verify', 'verified'],
    ['unverify', 'unverified'],
  ] as const) {
    app.post(`${path}/${action}`, requireRole('admin'), async (c) => {
      const form = await readCsrfForm(c)
      const id = c.req.param('id')
      return performOrShowProblem(
        c,
        async () => {
          await runOperation(c, `clients.${action}`, { id }, form)
          return c.redirect(`${pathOf({ id })}?done=${done}`, 303)
        },
        async (problem) => renderClient(c, await readClientOfUrl(c), { problem }),
      )
    })
  }
  app.get(`${path}/delete`, requireRole('admin'), async (c) =>
    renderDelete(c, await readClientOfUrl(c), null),
  )
  app.post(`${path}/delete`, requireRole('admin'), async (c) => {
    const form = await readCsrfForm(c)
    const id = c.req.param('id')
    if (isCancelled(form)) return c.redirect(pathOf({ id }), 303)
    return performOrShowProblem(
      c,
      async () => {
        await runOperation(c, 'clients.revoke', { id }, form)
        return c.redirect(`${APPLICATIONS_PATH}?done=deleted`, 303)
      },
      async (problem) => renderDelete(c, await readClientOfUrl(c), problem),
    )
  })
}

function renderDelete(c: Context<AppEnv>, client: ClientJson, problem: AdminProblem | null) {
  const { t } = c.get('page')
  return renderConfirmation(c, {
    title: t('adminClients.delete'),
    question: t.parts('adminClients.delete.question', { name: <bdi>{client.name}</bdi> }),
    operation: 'clients.revoke',
    confirmLabel: t('adminClients.delete.go'),
    problem,
    children: <p>{t('adminClients.delete.text')}</p>,
  })
}

/**
 * Whether the operator may perform the operation on the client. Only owners may act on clients of
 * the management API.
 */
function mayChange(
  operation: string,
  client: ClientJson,
  { operator, service }: { readonly operator: OperatorActor; readonly service: ServiceContext },
): boolean {
  if (client.revoked_at !== null || !mayCall(operator, operation)) return false
  return operator.role === 'owner' || !isManagement(client, service)
}

interface ClientView {
  readonly notice?: (typeof NOTICES)[keyof typeof NOTICES] | null
  readonly problem?: AdminProblem
}

function renderClient(c: Context<AppEnv>, client: ClientJson, view: ClientView) {
  const { t, service } = c.get('page')
  const { notice = null, problem = null } = view
  const operator = getOperator(c)
  const may = (operation: string) => mayChange(operation, client, { operator, service })
  return renderAdmin(
    c,
    { title: client.name, problem, ...(notice && { notice: t(notice) }) },
    <>
      <section class="card stack" aria-labelledby="client">
        <Title client={client} />
        <Details client={client} />
        <Acts client={client} may={may} />
      </section>
      {client.revoked_at === null && <Secret client={client} may={may} />}
      {mayCall(operator, 'audit.list') && (
        <p>
          <a href={buildAuditUrl('client', client.id)}>{t('adminAudit.about')}</a>
        </p>
      )}
    </>,
  )
}

const Title: FC<{ client: ClientJson }> = ({ client }) => {
  const { oauth } = usePage().service
  const logo = oauth.handles(`/oauth/logos/${client.id}`) && client.settings.logo_uri !== undefined
  const isShown = logo && client.verified && client.revoked_at === null
  return (
    <div class="row">
      {isShown && (
        <img class="logo" src={`/oauth/logos/${client.id}`} alt="" width="48" height="48" />
      )}
      <h1 id="client">
        <bdi>{client.name}</bdi>
      </h1>
      <ClientBadge client={client} />
    </div>
  )
}

const LINKS = [
  ['logo_uri', 'adminClients.logo'],
  ['client_uri', 'adminClients.homePage'],
  ['policy_uri', 'adminClients.privacyPolicy'],
  ['tos_uri', 'adminClients.terms'],
] as const

const Details: FC<{ client: ClientJson }> = ({ client }) => {
  const { t, service } = usePage()
  const { oauth } = service
  const { scopes, settings } = client
  const yesOrNo = (flag: boolean) => t(flag ? 'admin.yes' : 'admin.no')
  return (
    <dl class="facts broad">
      <Fact term={t('clients.id')}>
        <Copyable
          id="client-id"
          value={client.id}
          what={t('clients.idOf', { name: client.name })}
        />
      </Fact>
      <Fact term={t('adminClients.kind')}>
        {t(client.confidential ? 'clients.confidential' : 'clients.public')}
      </Fact>
      <Fact term={t('adminClients.origin')}>
        <Origin client={client} />
      </Fact>
      <Fact term={t('adminClients.verified')}>{yesOrNo(client.verified)}</Fact>
      <Fact term={t('adminClients.grants')}>
        <ul class="plain">
          {client.grants.map((type) => (
            <li>{describeGrant(type, t).title}</li>
          ))}
        </ul>
      </Fact>
      {client.redirect_uris.length > 0 && (
        <Fact term={t('clients.redirects')}>
          <ul class="plain addresses">
            {client.redirect_uris.map((uri) => (
              <li>
                <BreakableUrl url={uri} />
              </li>
            ))}
          </ul>
        </Fact>
      )}
      <Fact term={t('adminClients.scopes')}>
        {scopes === null ? (
          t('adminClients.anyScope')
        ) : scopes.length === 0 ? (
          t('adminClients.noScope')
        ) : (
          <ScopeList names={scopes} scopes={{ ...oauth.scopes, ...oauth.machineScopes }} />
        )}
      </Fact>
      <Fact term={t('adminClients.firstParty')}>{yesOrNo(client.first_party)}</Fact>
      <Fact term={t('adminClients.resourceServer')}>{yesOrNo(client.resource_server)}</Fact>
      {LINKS.map(
        ([name, label]) =>
          typeof settings[name] === 'string' && (
            <Fact term={t(label)}>
              <BreakableUrl url={settings[name]} />
            </Fact>
          ),
      )}
      <Fact term={t('adminClients.created')}>
        <Moment at={new Date(client.created_at)} />
      </Fact>
      <Fact term={t('adminClients.changed')}>
        <Moment at={new Date(client.updated_at)} />
      </Fact>
      {client.last_used_at !== undefined && (
        <Fact term={t('adminClients.lastUsed')}>
          <LastUsed client={client} />
        </Fact>
      )}
      {client.revoked_at !== null && (
        <Fact term={t('adminClients.deleted')}>
          <Moment at={new Date(client.revoked_at)} />
        </Fact>
      )}
    </dl>
  )
}

const Origin: FC<{ client: ClientJson }> = ({ client: { registered_by: by, user_id: id } }) => {
  const { t } = usePage()
  if (id === null) return <>{t(`adminClients.origin.${by}`)}</>
  return <a href={`/admin/people/${encodeURIComponent(id)}`}>{t('adminClients.person', { id })}</a>
}

interface ActsProps {
  readonly client: ClientJson
  /** Whether the operator may perform the operation on the client. */
  readonly may: (operation: string) => boolean
}

const Acts: FC<ActsProps> = ({ client, may }) => {
  const { t } = usePage()
  const review = client.verified ? 'unverify' : 'verify'
  const isReviewed = client.registered_by !== 'operator'
  if (!may('clients.update') && !may('clients.revoke')) return null
  return (
    <div class="actions">
      {may('clients.update') && (
        <a class="button" href={pathOf(client, '/edit')}>
          {t('adminClients.edit')}
        </a>
      )}
      {isReviewed && may(`clients.${review}`) && (
        <AdminForm action={pathOf(client, `/${review}`)}>
          <button type="submit">{t(`adminClients.${review}`)}</button>
        </AdminForm>
      )}
      {may('clients.revoke') && (
        <a class="button danger-quiet" href={pathOf(client, '/delete')}>
          {t('adminClients.delete')}
        </a>
      )}
    </div>
  )
}

const Secret: FC<ActsProps> = ({ client, may }) => {
  const { t } = usePage()
  const { previous_secret_until: until } = client
  return (
    <section class="card stack" aria-labelledby="secret">
      <h2 id="secret">{t('adminClients.secret')}</h2>
      <p>{describeSecret(client, t)}</p>
      {hasSecret(client) && may('clients.rotateSecret') && (
        <div class="actions">
          <a class="button" href={pathOf(client, '/rotate-secret')}>
            {t('adminClients.rotate')}
          </a>
          {until !== null && (
            <a class="button" href={pathOf(client, '/end-previous-secret')}>
              {t('adminClients.end')}
            </a>
          )}
          <a class="button danger-quiet" href={pathOf(client, '/replace-leaked-secret')}>
            {t('adminClients.leaked')}
          </a>
        </div>
      )}
    </section>
  )
}

function describeSecret(client: ClientJson, t: PageText) {
  const { previous_secret_until: until } = client
  if (!client.confidential) return t('adminClients.secret.none')
  if (!hasSecret(client)) return t('adminClients.secret.key')
  if (until === null) return t('adminClients.secret.one')
  return t.parts('adminClients.secret.two', { moment: <Moment at={new Date(until)} /> })
}
